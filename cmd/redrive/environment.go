package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/store/open"
	"github.com/redrivehq/redrive/telemetry"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// environment is what a command may touch of the world around the process.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string

	// From the global flags.
	configFile string
	output     string
}

// settings reads redrive.yaml and REDRIVE_*. What cannot be read or meant is wrong usage: nothing was done.
func (e *environment) settings() (config.Config, error) {
	file := e.configFile
	if file == "" {
		file = e.getenv("REDRIVE_CONFIG")
	}
	if file == "" {
		if _, err := os.Stat("redrive.yaml"); err == nil {
			file = "redrive.yaml"
		}
	}
	settings, err := config.Load(file, e.getenv)
	if err != nil {
		return settings, usagef("%w", err)
	}
	return settings, nil
}

func (e *environment) logger(c config.Config) (*zap.Logger, error) {
	return telemetry.NewLogger(e.stderr, c.Log.Level, c.Log.Format)
}

// sdkLogger leaves out what the SDK says at info, several lines for each queue, unless everything is wanted.
func sdkLogger(logger *zap.Logger) sdklog.Logger {
	if !logger.Core().Enabled(zap.DebugLevel) && logger.Core().Enabled(zap.InfoLevel) {
		logger = logger.WithOptions(zap.IncreaseLevel(zap.WarnLevel))
	}
	return telemetry.Temporal(logger)
}

// temporalOptions are Temporal's own environment configuration.
func (e *environment) temporalOptions(logger *zap.Logger) (client.Options, error) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: temporalEnvironment{e.getenv}})
	if err != nil {
		return options, fmt.Errorf("read Temporal's environment configuration: %w", err)
	}
	if options.HostPort == "" {
		options.HostPort = client.DefaultHostPort
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	options.Logger = sdkLogger(logger)
	return options, nil
}

// namespace is the one that dead-letter ids are derived in; it needs no connection.
func (e *environment) namespace() (string, error) {
	options, err := e.temporalOptions(zap.NewNop())
	return options.Namespace, err
}

// connect dials the Temporal of the environment, and encrypts what is sent there. Without a keyset it does not: what goes
// out in the clear because a file is missing does not come back.
func (e *environment) connect(ctx context.Context, settings config.Config, logger *zap.Logger) (*worker.Client, *vault.Keyset, error) {
	keys, err := keysetOf(settings).Load()
	if err != nil {
		return nil, nil, err
	}
	options, err := e.temporalOptions(logger)
	if err != nil {
		return nil, nil, err
	}
	c, err := worker.Dial(ctx, vault.Protect(options, keys))
	if err != nil {
		return nil, nil, fmt.Errorf("%w (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TEMPORAL_PROFILE say where it is)", err)
	}
	return c, keys, nil
}

// newStarter refuses keys in which a detector finds a secret or personal data: they become plaintext workflow IDs.
func newStarter(c *worker.Client, payloads starter.Vault, policies job.Policies, logger *zap.Logger) (*starter.Client, error) {
	redactor, err := redaction.Compile(redaction.Policy{})
	if err != nil {
		return nil, err
	}
	return starter.New(c, starter.Options{
		Vault: payloads, Screen: redactor.Detect, Logger: logger,
		Sensitive: func(t job.Type) bool { return policies.For(t).Vault == job.VaultAlways },
	}), nil
}

// distantVault opens the store when a payload needs it: most producers' payloads do not.
type distantVault struct {
	settings config.Config
	keys     *vault.Keyset
}

func (v distantVault) use(ctx context.Context, use func(*vault.Vault) error) (err error) {
	db, err := open.Store(ctx, v.settings.Store.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(vault.New(v.keys, db))
}

// Put implements starter.Vault.
func (v distantVault) Put(ctx context.Context, ref job.PayloadRef, id job.KeyID, subject string, payload []byte) error {
	return v.use(ctx, func(open *vault.Vault) error { return open.Put(ctx, ref, id, subject, payload) })
}

// Open implements starter.Vault.
func (v distantVault) Open(ctx context.Context, ref job.PayloadRef, id job.KeyID) (payload []byte, err error) {
	err = v.use(ctx, func(open *vault.Vault) (err error) {
		payload, err = open.Open(ctx, ref, id)
		return err
	})
	return payload, err
}

// Erase implements starter.Vault.
func (v distantVault) Erase(ctx context.Context, ref job.PayloadRef) error {
	return v.use(ctx, func(open *vault.Vault) error { return open.Erase(ctx, ref) })
}

// temporalEnvironment hands getenv to envconfig, which also lists variables (TEMPORAL_GRPC_META_*).
type temporalEnvironment struct{ getenv func(string) string }

// LookupEnv implements envconfig.EnvLookup.
func (t temporalEnvironment) LookupEnv(name string) (string, bool) {
	value := t.getenv(name)
	return value, value != ""
}

// Environ implements envconfig.EnvLookup: the names are the process's, the values getenv's.
func (t temporalEnvironment) Environ() []string {
	var all []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if value := t.getenv(name); value != "" {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// parseKeyID reads type:key.
func parseKeyID(given string) (job.KeyID, error) {
	t, key, colon := strings.Cut(given, ":")
	if !colon {
		return job.KeyID{}, fmt.Errorf("%w: there is no colon in it", job.ErrInvalidKey)
	}
	id := job.KeyID{Type: job.Type(t), Key: job.Key(key)}
	return id, id.Validate()
}

// readInput reads JSON itself, a file that holds it, or stdin (-). What could be a payload is never quoted.
func (e *environment) readInput(flag, source string) ([]byte, error) {
	if json.Valid([]byte(source)) {
		return []byte(source), nil
	}
	if source == "-" {
		raw, err := io.ReadAll(io.LimitReader(e.stdin, job.MaxVaultBytes+1<<20))
		if err != nil {
			return nil, fmt.Errorf("read %s from stdin: %w", flag, err)
		}
		return raw, nil
	}
	raw, err := os.ReadFile(source)
	var failed *fs.PathError
	switch {
	case err == nil:
		return raw, nil
	case strings.ContainsAny(source, `{["`):
		return nil, usagef("%s is neither valid JSON nor the name of a file; allowed are JSON, a file, and - for stdin", flag)
	case errors.As(err, &failed):
		return nil, usagef("%s: %s: %w", flag, source, failed.Err)
	}
	return nil, err
}
