package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Settings are the whole of redrive.yaml. Those that Load and Parse return are complete and valid.
type Settings struct {
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

// Vault says which keys encrypt payload records.
type Vault struct {
	// KeysetFile is read by workers and by the admin API. Default .data/keyset.json.
	KeysetFile string `yaml:"keyset_file"`
}

// Admin configures the admin API.
type Admin struct {
	// Listen is host:port. Default 127.0.0.1:8080. Off loopback a token is required.
	Listen string `yaml:"listen"`
	// TokenFile holds the bearer token, white space around it ignored. Default: none.
	TokenFile string `yaml:"token_file"`
	// Token comes from REDRIVE_ADMIN_TOKEN only: a file that is copied around is no place for it.
	Token string `yaml:"-"`
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
}

// Policies are the policy set, as written: a type's own settings over the default's.
type Policies struct {
	Default job.Policy              `yaml:"default"`
	Types   map[job.Type]job.Policy `yaml:"types"`
}

// Set returns the complete policy set.
func (p Policies) Set() job.Policies { return job.Policies{Default: p.Default, ByType: p.Types} }

// Log configures the program's log, which goes to stderr.
type Log struct {
	Level  string `yaml:"level"`  // one of Levels; default info
	Format string `yaml:"format"` // one of Formats; default console
}

// Levels returns the allowed log levels.
func Levels() []string { return []string{"debug", "info", "warn", "error"} }

// Formats returns the allowed log formats.
func Formats() []string { return []string{"console", "json"} }

// Defaults returns the documented defaults.
func Defaults() Settings { return Settings{}.withDefaults() }

func (s Settings) withDefaults() Settings {
	or(&s.Store.URL, "sqlite:.data/redrive.db")
	or(&s.Vault.KeysetFile, ".data/keyset.json")
	or(&s.Admin.Listen, "127.0.0.1:8080")
	or(&s.Worker.Drain, 10*time.Second)
	or(&s.Worker.MaxConcurrent, 20)
	or(&s.Log.Level, "info")
	or(&s.Log.Format, "console")
	s.Policies = s.Policies.withDefaults()
	return s
}

func or[V comparable](setting *V, fallback V) {
	var unset V
	if *setting == unset {
		*setting = fallback
	}
}

// Load reads the file at path; an empty path means no file. getenv looks up REDRIVE_* variables; nil means none.
// The error is every complaint at once, each an *Error, or names the file that could not be read.
func Load(path string, getenv func(string) string) (Settings, error) {
	if path == "" {
		return Parse("", nil, getenv)
	}
	source, err := os.ReadFile(path)
	var unreadable *fs.PathError
	if errors.As(err, &unreadable) {
		return Settings{}, fmt.Errorf("read configuration %s: %w", path, unreadable.Err)
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read configuration: %w", err)
	}
	return Parse(path, source, getenv)
}

// Parse is Load for a source at hand; name stands for it in errors.
func Parse(name string, source []byte, getenv func(string) string) (Settings, error) {
	d := &document{name: name, lines: map[string]int{}, variables: map[string]string{}}
	var s Settings
	if err := d.decode(source, &s); err != nil {
		return Settings{}, err
	}
	d.override(&s, getenv)
	s = s.withDefaults()
	d.check(s)
	if err := d.complaints(); err != nil {
		return Settings{}, err
	}
	return s, nil
}
