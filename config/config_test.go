package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/job"
)

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestParse(t *testing.T) {
	t.Parallel()

	t.Run("NothingIsTheDefaults", func(t *testing.T) {
		t.Parallel()
		for _, source := range []string{"", "  \n", "# only a comment\n", "store:\n"} {
			c, err := config.Parse("redrive.yaml", []byte(source), nil)
			require.NoError(t, err, source)
			require.Equal(t, config.Defaults(), c, source)
		}
	})

	t.Run("TypesInheritTheDefault", func(t *testing.T) {
		t.Parallel()
		c, err := config.Parse("redrive.yaml", []byte(`
policies:
  default: {lease: 1m, backoff: {base: 3s}, redaction: {keys: [customer_ref]}}
  types:
    email.send: {max_attempts: 3, backoff: {cap: 30s}}
`), nil)
		require.NoError(t, err)
		policy := c.JobPolicies().For("email.send")
		require.Equal(t, time.Minute, policy.Lease)
		require.Equal(t, 3, policy.MaxAttempts)
		require.Equal(t, job.Backoff{Base: 3 * time.Second, Cap: 30 * time.Second}, policy.Backoff)
		require.Equal(t, []string{"customer_ref"}, policy.Redaction.Keys)
		require.Equal(t, 10, c.JobPolicies().For("other.type").MaxAttempts)
	})

	t.Run("AnchorsAndMergeKeys", func(t *testing.T) {
		t.Parallel()
		c, err := config.Parse("redrive.yaml", []byte(`
policies:
  types:
    a.b: &slow
      lease: 2m
    c.d:
      <<: *slow
      max_attempts: 4
    e.f: *slow
`), nil)
		require.NoError(t, err)
		require.Equal(t, 2*time.Minute, c.Policies.Types["c.d"].Lease)
		require.Equal(t, 4, c.Policies.Types["c.d"].MaxAttempts)
		require.Equal(t, 2*time.Minute, c.Policies.Types["e.f"].Lease)
	})
}

func TestOverrides(t *testing.T) {
	t.Parallel()

	t.Run("EachVariableWins", func(t *testing.T) {
		t.Parallel()
		c, err := config.Parse("redrive.yaml", []byte("log: {level: warn}\nworker: {drain: 1m}"), environment(map[string]string{
			"REDRIVE_STORE": "postgres://u:p@db/redrive", "REDRIVE_VAULT_KEYSET": "k.json",
			"REDRIVE_ADMIN_LISTEN": "0.0.0.0:80", "REDRIVE_ADMIN_TOKEN": "t", "REDRIVE_ADMIN_TOKEN_FILE": "f",
			"REDRIVE_ADMIN_PRIVILEGED_TOKEN": "p", "REDRIVE_ADMIN_PRIVILEGED_TOKEN_FILE": "q",
			"REDRIVE_ADMIN_CODEC_ORIGINS": "https://a.example, http://127.0.0.1:8233",
			"REDRIVE_WORKER_DRAIN":        "3s", "REDRIVE_WORKER_MAX_CONCURRENT": "7", "REDRIVE_HANDLER_VERSION": "v9",
			"REDRIVE_WORKER_IDENTITY": "me", "REDRIVE_LOG_LEVEL": "debug", "REDRIVE_LOG_FORMAT": "json",
		}))
		require.NoError(t, err)
		want := config.Config{
			Store: config.Store{URL: "postgres://u:p@db/redrive"}, Vault: config.Vault{KeysetFile: "k.json"},
			Admin: config.Admin{
				Listen: "0.0.0.0:80", Token: "t", TokenFile: "f", PrivilegedToken: "p", PrivilegedTokenFile: "q",
				CodecOrigins: []string{"https://a.example", "http://127.0.0.1:8233"},
			},
			Worker:   config.Worker{Drain: 3 * time.Second, MaxConcurrent: 7, HandlerVersion: "v9", Identity: "me"},
			Policies: config.Defaults().Policies,
			Log:      config.Log{Level: "debug", Format: "json"},
		}
		require.Equal(t, want, c)
	})

	t.Run("TheComplaintNamesTheVariable", func(t *testing.T) {
		t.Parallel()
		_, err := config.Parse("redrive.yaml", []byte("log: {level: warn}"), environment(map[string]string{
			"REDRIVE_LOG_LEVEL": "loud", "REDRIVE_WORKER_DRAIN": "soon",
		}))
		require.ErrorIs(t, err, config.ErrInvalid)
		require.ErrorContains(t, err, "REDRIVE_LOG_LEVEL: log.level: is not a level, allowed are debug, info, warn, error")
		require.ErrorContains(t, err, "REDRIVE_WORKER_DRAIN: worker.drain: is not a duration")
	})
}

func TestLoad(t *testing.T) {
	t.Parallel()

	t.Run("NoFile", func(t *testing.T) {
		t.Parallel()
		c, err := config.Load("", nil)
		require.NoError(t, err)
		require.Equal(t, config.Defaults(), c)
	})

	t.Run("MissingFile", func(t *testing.T) {
		t.Parallel()
		_, err := config.Load("nowhere.yaml", nil)
		require.EqualError(t, err, "read configuration nowhere.yaml: no such file or directory")
	})

	t.Run("File", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "redrive.yaml")
		require.NoError(t, os.WriteFile(path, []byte("log: {level: loud}"), 0o600))
		_, err := config.Load(path, nil)
		require.ErrorContains(t, err, path+":1: log.level: is not a level")
	})
}
