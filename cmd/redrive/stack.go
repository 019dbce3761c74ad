package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	sdkclient "go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/open"
	"github.com/redrivehq/redrive/telemetry"
	"github.com/redrivehq/redrive/testsuite"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// stackOptions say what a stack consists of. The zero value is a whole one on free ports that leaves nothing behind.
type stackOptions struct {
	DataDir        string // for databases and keys, made when missing; empty: a temporary one that Close removes
	InMemory       bool   // Temporal forgets everything when it ends
	NoWorker       bool
	HandlerVersion string // of the worker; default: worker.handler_version, else the build's
	AdminListen    string // default: a free port on loopback
	Port, UIPort   int    // of Temporal; 0: free ones
}

// stack is a whole redrive on loopback.
type stack struct {
	DataDir    string // absolute
	Server     *testsuite.Server
	Client     *worker.Client
	Store      *store.DB
	StoreURL   string
	Vault      *vault.Vault
	KeysetFile string
	EnvFile    string // to be sourced by a shell, so that other commands find this stack
	AdminURL   string

	settings config.Config
	keys     *vault.Keyset
	logger   *zap.Logger
	listener net.Listener // the admin API's, until that has it
	admin    *adminServer
	metrics  *telemetry.Metrics
	closers  []func() error // in the order they were opened
}

// startStack returns once everything answers. On an error, what was started is ended. The caller closes the stack.
func startStack(ctx context.Context, env *environment, o stackOptions) (_ *stack, err error) {
	s := &stack{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, start := range []func(context.Context, *environment, stackOptions) error{
		s.readSettings, s.makeDirectory, s.listen, s.startTemporal, s.openStore, s.startAdmin, s.startWorker, s.writeEnv,
	} {
		if err := start(ctx, env, o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *stack) readSettings(_ context.Context, env *environment, o stackOptions) (err error) {
	if s.settings, err = env.settings(); err != nil {
		return err
	}
	if o.HandlerVersion != "" {
		s.settings.Worker.HandlerVersion = o.HandlerVersion
	}
	s.settings.Admin = config.Admin{Listen: o.AdminListen} // loopback: no token of a real deployment is wanted here
	if o.AdminListen == "" {
		s.settings.Admin.Listen = "127.0.0.1:0"
	}
	s.logger, err = env.logger(s.settings)
	return err
}

// makeDirectory also makes the keyset, and points the settings into the directory.
func (s *stack) makeDirectory(_ context.Context, _ *environment, o stackOptions) (err error) {
	if o.DataDir == "" {
		if s.DataDir, err = os.MkdirTemp("", "redrive-dev-"); err == nil {
			s.closers = append(s.closers, func() error { return os.RemoveAll(s.DataDir) })
		}
	} else if s.DataDir, err = filepath.Abs(o.DataDir); err == nil {
		err = os.MkdirAll(s.DataDir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	s.StoreURL = "sqlite:" + filepath.Join(s.DataDir, "redrive.db")
	s.KeysetFile = filepath.Join(s.DataDir, "keyset.json")
	s.EnvFile = filepath.Join(s.DataDir, "dev.env")
	s.settings.Store.URL, s.settings.Vault.KeysetFile = s.StoreURL, s.KeysetFile
	s.settings.Vault.KeysetJSON, s.settings.Vault.KMSURI = "", "" // of a real deployment
	if _, err := createKeyset(keysetOf(s.settings)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.keys, err = keysetOf(s.settings).Load()
	return err
}

// listen takes the admin API's address before Temporal starts: its Web UI is told where payloads are decoded.
func (s *stack) listen(ctx context.Context, _ *environment, _ stackOptions) (err error) {
	if s.listener, err = listenAdmin(ctx, s.settings.Admin.Listen); err != nil {
		return err
	}
	s.AdminURL = "http://" + s.listener.Addr().String()
	s.closers = append(s.closers, func() error {
		if err := s.listener.Close(); !errors.Is(err, net.ErrClosed) { // the admin API closes it
			return err
		}
		return nil
	})
	return nil
}

// startTemporal never looks at TEMPORAL_ADDRESS.
func (s *stack) startTemporal(ctx context.Context, env *environment, o stackOptions) (err error) {
	db := filepath.Join(s.DataDir, "temporal.db")
	if o.InMemory {
		db = ""
	}
	s.Server, err = testsuite.StartServer(ctx, testsuite.ServerOptions{
		DB: db, Port: o.Port, UIPort: o.UIPort, Reuse: env.getenv("REDRIVE_TEST_TEMPORAL"),
		UICodecEndpoint: s.AdminURL + "/codec",
	})
	if err != nil {
		return err
	}
	s.closers = append(s.closers, s.Server.Close)
	s.Client, err = worker.Dial(ctx, vault.Protect(sdkclient.Options{
		HostPort: s.Server.Address, Namespace: s.Server.Namespace, Logger: sdkLogger(s.logger),
	}, s.keys))
	if err != nil {
		return err
	}
	s.closers = append(s.closers, func() error { s.Client.Close(); return nil })
	return nil
}

func (s *stack) openStore(ctx context.Context, _ *environment, _ stackOptions) (err error) {
	if s.Store, err = open.Unprepared(s.StoreURL); err != nil {
		return err
	}
	s.closers = append(s.closers, s.Store.Close)
	if err := s.Store.Migrate(ctx); err != nil {
		return err
	}
	s.Vault = vault.New(s.keys, s.Store)
	return nil
}

// startAdmin also makes the metrics of the stack's worker, and serves them.
func (s *stack) startAdmin(ctx context.Context, _ *environment, _ stackOptions) (err error) {
	var page http.Handler
	if s.metrics, page, err = newMetrics(); err != nil {
		return err
	}
	s.settings.Admin.CodecOrigins = pageOrigins(s.Server.UIAddress)
	if s.admin, err = startAdmin(ctx, s.settings, s.Client, sealed{s.Store, s.Vault, s.keys}, s.listener, page, s.logger); errors.Is(err, admin.ErrInvalidOptions) {
		return usagef("%w, which this stack has none of: listen on loopback", err)
	} else if err != nil {
		return err
	}
	s.closers = append(s.closers, s.admin.Close)
	return nil
}

// pageOrigins are the names by which a browser on this machine knows a server on loopback.
func pageOrigins(ui string) []string {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(ui, "http://"))
	if err != nil {
		return nil // a reused server, whose UI is not ours
	}
	return []string{ui, "http://localhost:" + port}
}

func (s *stack) startWorker(ctx context.Context, env *environment, o stackOptions) error {
	if o.NoWorker {
		return nil
	}
	options, err := workerOptions(env, s.settings, s.logger)
	if err != nil {
		return err
	}
	policies := s.settings.JobPolicies()
	options.Policies, options.Store, options.Vault, options.Observer = &policies, s.Store, s.Vault, s.metrics
	w, err := worker.New(s.Client, options)
	if err != nil {
		return err
	}
	if err := w.Start(ctx); err != nil {
		return err
	}
	s.closers = append(s.closers, func() error { w.Stop(); return nil })
	return nil
}

// writeEnv leaves a file by which a shell's commands find this stack.
func (s *stack) writeEnv(context.Context, *environment, stackOptions) error {
	var b strings.Builder
	for _, pair := range [][2]string{
		{"TEMPORAL_ADDRESS", s.Server.Address},
		{"TEMPORAL_NAMESPACE", s.Server.Namespace},
		{"REDRIVE_STORE", s.StoreURL},
		{"REDRIVE_VAULT_KEYSET", s.KeysetFile},
	} {
		fmt.Fprintf(&b, "export %s=%s\n", pair[0], shellQuote(pair[1]))
	}
	if err := os.WriteFile(s.EnvFile, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write the stack's environment: %w", err)
	}
	return nil
}

// Close ends what was started, last first: the worker drains while everything it needs still answers.
func (s *stack) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}
