package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Config is the whole of redrive.yaml. Those that Load and Parse return are complete and valid.
type Config struct {
	Store    Store    `yaml:"store"`
	Vault    Vault    `yaml:"vault"`
	Admin    Admin    `yaml:"admin"`
	Worker   Worker   `yaml:"worker"`
	Policies Policies `yaml:"policies"`
	Log      Log      `yaml:"log"`
}

// Store says where dead letters and the vault's rows live.
type Store struct {
	// URL is sqlite:<path> or postgres://…; it may hold a password. Default sqlite:.data/redrive.db.
	URL string `yaml:"url"`
}

// Vault says which keys encrypt payloads, in the vault and in Temporal's history.
type Vault struct {
	// KeysetFile is read by everything that starts, runs or shows jobs. Default .data/keyset.json.
	KeysetFile string `yaml:"keyset_file"`
	// KeysetJSON is the keyset itself. It comes from REDRIVE_VAULT_KEYSET_JSON only, and wins over KeysetFile.
	KeysetJSON string `yaml:"-"`
	// KMSURI names the key that the keyset is encrypted with, in a key management service. Default: empty, which is none.
	KMSURI string `yaml:"kms_uri"`
}

// Admin configures the admin API.
type Admin struct {
	// Listen is host:port. Default 127.0.0.1:8080. Off loopback a token is required.
	Listen string `yaml:"listen"`
	// TokenFile holds the bearer token, white space around it ignored. Default: none.
	TokenFile string `yaml:"token_file"`
	// Token comes from REDRIVE_ADMIN_TOKEN only: a file that is copied around is no place for it.
	Token string `yaml:"-"`
	// PrivilegedTokenFile holds the bearer token of those who may see payloads as they are, and erase. Default: none.
	PrivilegedTokenFile string `yaml:"privileged_token_file"`
	// PrivilegedToken comes from REDRIVE_ADMIN_PRIVILEGED_TOKEN only.
	PrivilegedToken string `yaml:"-"`
	// CodecOrigins are where the Temporal Web UI is served, such as https://temporal.example.com. Default: nowhere.
	CodecOrigins []string `yaml:"codec_origins"`
}

// Worker configures the worker process.
type Worker struct {
	// Drain is how long running handlers may go on after a stop. Default 10s.
	Drain time.Duration `yaml:"drain"`
	// MaxConcurrent bounds the handlers that run at once, per job type. Default 20.
	MaxConcurrent int `yaml:"max_concurrent"`
	// HandlerVersion names the build to replays. Default: empty, which is the build information.
	HandlerVersion string `yaml:"handler_version"`
	// Identity of the process in Temporal. Default: empty, which is process id and host.
	Identity string `yaml:"identity"`
	// MetricsListen is host:port, where /metrics is served without a token. Default: empty, which is nowhere.
	MetricsListen string `yaml:"metrics_listen"`
}

// Policies are the policy set. Once loaded, each type is complete: its own settings over the default's.
type Policies struct {
	Default job.Policy              `yaml:"default"`
	Types   map[job.Type]job.Policy `yaml:"types"`
}

// Log configures the program's log, which goes to stderr.
type Log struct {
	Level  string `yaml:"level"`  // one of Levels; default info
	Format string `yaml:"format"` // one of Formats; default console
}

// Levels returns the allowed log levels.
func Levels() []string { return []string{"debug", "info", "warn", "error"} }

// Formats returns the allowed log formats.
func Formats() []string { return []string{"console", "json"} }

// JobPolicies returns the complete policy set, as the worker takes it.
func (c Config) JobPolicies() job.Policies {
	return job.Policies{Default: c.Policies.Default, ByType: c.Policies.Types}
}

// Defaults returns the documented defaults.
func Defaults() Config { return Config{}.withDefaults() }

func (c Config) withDefaults() Config {
	or(&c.Store.URL, "sqlite:.data/redrive.db")
	or(&c.Vault.KeysetFile, ".data/keyset.json")
	or(&c.Admin.Listen, "127.0.0.1:8080")
	or(&c.Worker.Drain, 10*time.Second)
	or(&c.Worker.MaxConcurrent, 20)
	or(&c.Log.Level, "info")
	or(&c.Log.Format, "console")
	c.Policies = c.Policies.withDefaults()
	return c
}

func or[V comparable](setting *V, fallback V) {
	var unset V
	if *setting == unset {
		*setting = fallback
	}
}

// Load reads the file at path; an empty path means no file. getenv looks up REDRIVE_* variables; nil means none.
// The error is every complaint at once, each an *Error, or names the file that could not be read.
func Load(path string, getenv func(string) string) (Config, error) {
	if path == "" {
		return Parse("", nil, getenv)
	}
	source, err := os.ReadFile(path)
	var unreadable *fs.PathError
	if errors.As(err, &unreadable) {
		return Config{}, fmt.Errorf("read configuration %s: %w", path, unreadable.Err)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, source, getenv)
}

// Parse is Load for a source at hand; name stands for it in errors.
func Parse(name string, source []byte, getenv func(string) string) (Config, error) {
	d := &document{name: name, lines: map[string]int{}, variables: map[string]string{}}
	var c Config
	if err := d.decode(source, &c); err != nil {
		return Config{}, err
	}
	d.override(&c, getenv)
	c = c.withDefaults()
	d.check(c)
	if err := d.complaints(); err != nil {
		return Config{}, err
	}
	return c, nil
}
