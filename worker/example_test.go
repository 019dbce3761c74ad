package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.temporal.io/sdk/contrib/envconfig"
	_ "modernc.org/sqlite" // the store's driver; for PostgreSQL: github.com/jackc/pgx/v5/stdlib

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store/open"
	"github.com/redrivehq/redrive/telemetry"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// version is how a replay tells the repaired build from the one that failed. Left out of worker.Options, it is the build's
// module version or VCS revision.
const version = "v1"

type Receipt struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

// sendReceipt is the handler. The class of its error decides what happens next.
func sendReceipt(ctx context.Context, r Receipt) (any, error) {
	if r.Amount < 0 {
		return nil, job.InvalidPayload(errors.New("the amount is negative")) // poison: no retry can help
	}
	// Applied once per job key, over retries, overlapping leases and replays; later callers get the stored result.
	return job.Once(ctx, "receipt", func(ctx context.Context, downstreamKey string) (string, error) {
		id, err := mail(ctx, downstreamKey, r)
		if err != nil {
			return "", job.DependencyDown(err) // it surely was not sent: retried with backoff
		}
		return id, nil
	})
}

// mail stands for the system that the handler calls.
func mail(_ context.Context, downstreamKey string, r Receipt) (id string, err error) {
	fmt.Printf("%s mails a receipt over %d to %s\n", version, r.Amount, r.To)
	return downstreamKey, nil
}

func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func run(ctx context.Context) error {
	logger, err := telemetry.NewLogger(os.Stderr, "warn", "console")
	if err != nil {
		return err
	}
	options, err := envconfig.LoadDefaultClientOptions() // TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …
	if err != nil {
		return err
	}
	options.Logger = telemetry.Temporal(logger)                      // the SDK's own prints every retry
	keys, err := vault.LoadKeyset(os.Getenv("REDRIVE_VAULT_KEYSET")) // made by `redrive keys create`
	if err != nil {
		return err
	}
	c, err := worker.Dial(ctx, vault.Protect(options, keys)) // encrypts all that goes to Temporal
	if err != nil {
		return err
	}
	defer c.Close()
	db, err := open.Store(ctx, os.Getenv("REDRIVE_STORE")) // sqlite:PATH or postgres://…, after `redrive migrate`
	if err != nil {
		return err
	}
	defer db.Close()
	handlers := new(worker.Handlers)
	if err := worker.Register(handlers, job.Definition{
		Type: "receipt.send", Effects: job.EffectsLedger, Owner: "team-billing",
	}, sendReceipt); err != nil {
		return err
	}
	w, err := worker.New(c, worker.Options{
		Handlers: handlers, HandlerVersion: version, Payloads: vault.New(keys, db), Ledger: db, Logger: logger,
	})
	if err != nil {
		return err
	}
	return w.Run(ctx) // until ctx ends; then it drains
}
