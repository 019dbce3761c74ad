package redaction

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/goccy/go-yaml"
)

// Mode says what happens to a value that no rule names.
type Mode string

// The modes. An empty mode means [DenyList].
const (
	DenyList  Mode = "deny-list"  // kept, unless a preset, a rule or a detector removes it
	AllowList Mode = "allow-list" // removed, unless Policy.Allow lists its path; presets and detectors still apply below it
	Withhold  Mode = "withhold"   // the whole payload is withheld, only the report remains
)

// AllModes returns every mode.
func AllModes() []Mode { return []Mode{DenyList, AllowList, Withhold} }

// The documented defaults of the limits.
const (
	DefaultMaxBytes     = 2 << 20         // Temporal's own limit for one payload
	DefaultMaxDepth     = 64              // containers inside each other
	DefaultMaxTextBytes = 1 << 20         // error texts and stacks
	DefaultBudget       = 5 * time.Second // wall clock for one payload or text
)

// The largest depth a policy may ask for: the walker recurses, and jsontext itself stops at 10000.
const maxMaxDepth = 1000

// Policy is what a user writes about one job type. The zero value is the default policy: deny-list with all presets.
// The presets are always on; Keys, Paths and Patterns add to them and only Allow takes away.
type Policy struct {
	// Mode is one of [AllModes], [DenyList] when empty.
	Mode Mode `yaml:"mode"`
	// Keys are names whose whole value goes. Case, separators and camelCase do not matter: customerRef is customer_ref.
	Keys []string `yaml:"keys"`
	// Allow keeps what a key preset would remove. An entry is a key name, or an RFC 9535 path when it starts with $.
	// In allow-list mode the paths are what is kept. A path lifts presets for the node it selects, not for those below.
	Allow []string `yaml:"allow"`
	// Paths are RFC 9535 JSONPaths whose nodes go: names, indexes and slices from the start, wildcards, descendants.
	Paths []string `yaml:"paths"`
	// Patterns are detectors of the user's own.
	Patterns []Pattern `yaml:"patterns"`

	// MaxBytes is the largest payload that is looked into, in bytes; 0 means [DefaultMaxBytes].
	MaxBytes int `yaml:"max_bytes"`
	// MaxDepth is the deepest nesting of objects and arrays; 0 means [DefaultMaxDepth], at most 1000.
	MaxDepth int `yaml:"max_depth"`
	// MaxTextBytes is the longest text that [Redactor.Text] looks into, in bytes; 0 means [DefaultMaxTextBytes].
	MaxTextBytes int `yaml:"max_text_bytes"`
	// Budget is the wall-clock time one payload or text may take; 0 means [DefaultBudget].
	Budget time.Duration `yaml:"budget"`
}

// Pattern is a detector of the user's own: what the RE2 expression matches, in any string or number, is removed.
type Pattern struct {
	// Name labels the placeholder and the report: lower-case letters, digits, - and _, at most 32 bytes.
	Name string `yaml:"name"`
	// Match is a regular expression in Go's RE2 syntax that does not match the empty text.
	Match string `yaml:"match"`
}

// ParsePolicy reads a policy from YAML. Unknown and repeated keys are refused with their line; an empty document is the
// default policy. The rules themselves are checked by [Compile].
func ParsePolicy(source []byte) (Policy, error) {
	var policy Policy
	decoder := yaml.NewDecoder(bytes.NewReader(source), yaml.Strict())
	if err := decoder.Decode(&policy); err != nil {
		if errors.Is(err, io.EOF) {
			return Policy{}, nil
		}
		return Policy{}, fmt.Errorf("redaction policy: %s", yaml.FormatError(err, false, true))
	}
	var second any
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return Policy{}, errors.New("redaction policy: more than one YAML document, one is allowed")
	}
	return policy, nil
}

func (p Policy) withDefaults() Policy {
	if p.Mode == "" {
		p.Mode = DenyList
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = DefaultMaxBytes
	}
	if p.MaxDepth == 0 {
		p.MaxDepth = DefaultMaxDepth
	}
	if p.MaxTextBytes == 0 {
		p.MaxTextBytes = DefaultMaxTextBytes
	}
	if p.Budget == 0 {
		p.Budget = DefaultBudget
	}
	return p
}

// validate checks what does not need compiling: the mode and the limits.
func (p Policy) validate() error {
	switch p.Mode {
	case DenyList, AllowList, Withhold:
	default:
		return fmt.Errorf("redaction policy: mode %q, allowed are %q", p.Mode, AllModes())
	}
	switch {
	case p.MaxBytes < 0:
		return fmt.Errorf("redaction policy: max_bytes %d, allowed is 1 or more", p.MaxBytes)
	case p.MaxDepth < 0 || p.MaxDepth > maxMaxDepth:
		return fmt.Errorf("redaction policy: max_depth %d, allowed is 1 to %d", p.MaxDepth, maxMaxDepth)
	case p.MaxTextBytes < 0:
		return fmt.Errorf("redaction policy: max_text_bytes %d, allowed is 1 or more", p.MaxTextBytes)
	case p.Budget < 0:
		return fmt.Errorf("redaction policy: budget %s, allowed is more than 0", p.Budget)
	}
	return nil
}
