package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/replay"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/open"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

func newAdmin(env *environment) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "admin", Short: "Serve the admin API", Args: takes(),
		Long: `Serve the admin API: start jobs, look at dead letters, ask for replays. /openapi.json describes it.

Off loopback a bearer token is required: admin.token_file, or REDRIVE_ADMIN_TOKEN.`,
		Example: `  redrive admin
  REDRIVE_ADMIN_TOKEN="$(cat token)" redrive admin --listen 0.0.0.0:8080`,
	}
	cmd.Flags().StringVar(&listen, "listen", "", "the `address`, host:port (default: admin.listen)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		settings, err := env.settings()
		if err != nil {
			return err
		}
		if listen != "" {
			settings.Admin.Listen = listen
		}
		logger, err := env.logger(settings)
		if err != nil {
			return err
		}
		db, err := open.Store(cmd.Context(), settings.Store.URL)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		c, keys, err := env.connect(cmd.Context(), settings, logger)
		if err != nil {
			return err
		}
		defer c.Close()
		listener, err := listenAdmin(cmd.Context(), settings.Admin.Listen)
		if err != nil {
			return err
		}
		api, err := startAdmin(cmd.Context(), settings, c, sealed{db, vault.New(keys, db), keys}, listener, nil, logger)
		if errors.Is(err, admin.ErrInvalidOptions) {
			return usagef("%w; redrive.example.yaml describes the settings of admin", err)
		}
		if err != nil {
			return err
		}
		logger.Info("admin API serving", zap.String("url", api.url))
		return api.wait(cmd.Context())
	}
	return cmd
}

// adminServer is the admin API on its listener.
type adminServer struct {
	url    string
	server *http.Server
	failed chan error
}

// listenAdmin binds the address.
func listenAdmin(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve the admin API: %w", err)
	}
	return listener, nil
}

// startAdmin serves on a listener, which is its to close, also after an error.
func startAdmin(
	ctx context.Context, settings config.Config, c *worker.Client, payloads sealed, listener net.Listener,
	metrics http.Handler, logger *zap.Logger,
) (_ *adminServer, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, listener.Close())
		}
	}()
	a, db := settings.Admin, payloads.store
	token, err := tokenOf(a.Token, "admin.token_file", a.TokenFile)
	if err != nil {
		return nil, err
	}
	privileged, err := tokenOf(a.PrivilegedToken, "admin.privileged_token_file", a.PrivilegedTokenFile)
	if err != nil {
		return nil, err
	}
	jobs, err := newStarter(c, payloads.vault, settings.JobPolicies(), logger)
	if err != nil {
		return nil, err
	}
	handler, err := admin.New(admin.Options{
		Store: adminStore{db}, Jobs: jobs, Requests: replay.New(c, db), Listen: a.Listen, Token: token,
		PrivilegedToken: privileged, Codec: vault.NewCodec(payloads.keys), CodecOrigins: a.CodecOrigins, Policies: settings.JobPolicies(),
		Audit: db, Eraser: vault.NewEraser(db, jobs, c.Namespace()),
		Temporal: func(ctx context.Context) error {
			_, err := c.CheckHealth(ctx, &client.CheckHealthRequest{})
			return err
		},
		Metrics: metrics, Version: worker.BuildVersion(), Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	s := &adminServer{
		url: "http://" + listener.Addr().String(), failed: make(chan error, 1),
		server: &http.Server{
			Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second,
			WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
			ErrorLog: zap.NewStdLog(logger),
		},
	}
	go func() { s.failed <- s.server.Serve(listener) }()
	return s, nil
}

// wait serves until ctx ends, and then finishes the requests that are under way.
func (s *adminServer) wait(ctx context.Context) error {
	select {
	case err := <-s.failed:
		return fmt.Errorf("serve the admin API: %w", err)
	case <-ctx.Done():
		return s.Close()
	}
}

// Close lets requests that are under way finish.
func (s *adminServer) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.server.Shutdown(ctx)
}

// tokenOf is a token that was given itself, or is in a file.
func tokenOf(token, setting, file string) (string, error) {
	if token != "" || file == "" {
		return token, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", setting, err)
	}
	if token = strings.TrimSpace(string(raw)); token == "" {
		return "", fmt.Errorf("%s: %s is empty", setting, file)
	}
	return token, nil
}

// adminStore is the store as package admin wants it; admin does not import store.
type adminStore struct{ *store.DB }

// DeadLetters translates the query and its refusal.
func (s adminStore) DeadLetters(ctx context.Context, q admin.Query) (admin.Page, error) {
	page, err := s.DB.DeadLetters(ctx, store.Query{
		State: q.State, Type: q.Type, Class: q.Class, Cause: q.Cause, Fingerprint: q.Fingerprint, Version: q.Version,
		Since: q.Since, Until: q.Until, Limit: q.Limit, Cursor: q.Cursor,
	})
	if errors.Is(err, store.ErrInvalidQuery) {
		return admin.Page{}, invalidQuery{err}
	}
	return admin.Page{Letters: page.Letters, Next: page.Next}, err
}

// invalidQuery is store's refusal under admin's name.
type invalidQuery struct{ error }

// Is makes it admin.ErrInvalidQuery.
func (invalidQuery) Is(target error) bool { return target == admin.ErrInvalidQuery }
