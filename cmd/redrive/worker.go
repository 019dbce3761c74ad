package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/open"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// workerFlags are those of `redrive worker`.
type workerFlags struct {
	version        string
	lanesOnly      bool
	untilStdinEnds bool
}

func newWorker(env *environment) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use: "worker", Short: "Run jobs: the shipped and sample handlers, workflows and dead letters", Args: takes(),
		Long: `Run jobs: the shipped handler webhook.deliver, the samples email.send and demo.slow, and everything around them.

A worker polls the lanes of its handlers and, holding the policies of redrive.yaml, also redrive (workflows) and
redrive.store (dead letters). With --lanes-only it polls lanes only: for a service that must not decide about policies.

With worker.metrics_listen, Prometheus finds its metrics there, at /metrics.

SIGTERM drains: no new work, and running handlers get worker.drain. What does not finish runs again elsewhere, uncounted.`,
		Example: `  redrive worker
  redrive worker --handler-version v2
  REDRIVE_SAMPLE_OUTBOX=outbox.jsonl redrive worker --lanes-only`,
	}
	cmd.Flags().StringVar(&f.version, "handler-version", "", "the `name` of this build (default: worker.handler_version, else the build's)")
	cmd.Flags().BoolVar(&f.lanesOnly, "lanes-only", false, "poll the lanes of handlers only")
	cmd.Flags().BoolVar(&f.untilStdinEnds, "until-stdin-ends", false, "also drain when stdin ends: for a parent that may be killed")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		if f.untilStdinEnds {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
			go func() {
				_, _ = io.Copy(io.Discard, env.stdin)
				cancel()
			}()
		}
		return runWorker(ctx, env, f)
	}
	return cmd
}

func runWorker(ctx context.Context, env *environment, f workerFlags) (err error) {
	settings, err := env.settings()
	if err != nil {
		return err
	}
	logger, err := env.logger(settings)
	if err != nil {
		return err
	}
	if f.version != "" {
		settings.Worker.HandlerVersion = f.version
	}
	c, keys, err := env.connect(ctx, settings, logger)
	if err != nil {
		return err
	}
	defer c.Close()
	options, err := workerOptions(env, settings, logger)
	if err != nil {
		return err
	}
	payloads, closeStore, err := openPayloads(ctx, settings, keys)
	switch {
	case err == nil:
		defer func() { err = errors.Join(err, closeStore()) }()
		options.Payloads, options.Ledger = payloads.vault, payloads.store
	case f.lanesOnly:
		logger.Warn("no vault, so replays are handed to other workers", zap.Error(err))
	default:
		return err
	}
	if !f.lanesOnly {
		policies := settings.JobPolicies()
		options.Policies, options.Store, options.Vault = &policies, payloads.store, payloads.vault
	}
	metrics, page, err := newMetrics()
	if err != nil {
		return err
	}
	options.Observer = metrics
	w, err := worker.New(c, options)
	if err != nil {
		return err
	}
	stop, err := serveMetrics(ctx, settings.Worker.MetricsListen, page, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := w.Run(ctx); err != nil {
		return err
	}
	logger.Info("worker drained")
	return nil
}

// workerOptions are what all workers of the program have in common.
func workerOptions(env *environment, settings config.Config, logger *zap.Logger) (worker.Options, error) {
	version := settings.Worker.HandlerVersion
	if version == "" {
		version = worker.BuildVersion()
	}
	var handlers worker.Handlers
	if err := registerSamples(&handlers, version, env.getenv); err != nil {
		return worker.Options{}, err
	}
	return worker.Options{
		Handlers: &handlers, HandlerVersion: version, Drain: settings.Worker.Drain,
		MaxConcurrent: settings.Worker.MaxConcurrent, Identity: settings.Worker.Identity, Logger: logger,
	}, nil
}

// sealed is a store and the vault over it.
type sealed struct {
	store *store.DB
	vault *vault.Vault
	keys  *vault.Keyset
}

func openPayloads(ctx context.Context, settings config.Config, keys *vault.Keyset) (s sealed, closeStore func() error, err error) {
	db, err := open.Store(ctx, settings.Store.URL)
	if err != nil {
		return s, nil, err
	}
	return sealed{store: db, vault: vault.New(keys, db), keys: keys}, db.Close, nil
}
