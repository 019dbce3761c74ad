package redaction

import (
	"fmt"
	"slices"
	"time"
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
	DefaultMaxTokens    = 500_000         // objects, arrays, strings, numbers and literals
	DefaultMaxDecode    = 8 << 20         // bytes of base64, hex and escapes that are looked into
	DefaultMaxTextBytes = 1 << 20         // error texts and stacks
	DefaultBudget       = 5 * time.Second // wall clock for one payload or text
)

// The largest depth a policy may ask for: the walker recurses, and jsontext itself stops at 10000.
const maxMaxDepth = 1000

// Policy is what a user writes about one job type. The zero value is the default policy: deny-list with [DefaultPresets].
// User rules extend the defaults; only Allow takes away, and only ReplaceDefaults switches presets off.
type Policy struct {
	// Mode is one of [AllModes], [DenyList] when empty, [AllowList] when empty and the preset strict is on.
	Mode Mode `yaml:"mode"`
	// Presets are added to [DefaultPresets].
	Presets []Preset `yaml:"presets"`
	// ReplaceDefaults leaves only Presets on.
	ReplaceDefaults bool `yaml:"replace_defaults"`
	// Keys are names whose whole value goes. Case, separators and camelCase do not matter: customerRef is customer_ref. A *
	// stands for any part of a name.
	Keys []string `yaml:"keys"`
	// Allow keeps what a key preset would remove. An entry is a key name, or an RFC 9535 path when it starts with $.
	// In allow-list mode the paths are what is kept. A path lifts presets for the node it selects, not for those below.
	Allow []string `yaml:"allow"`
	// Paths are RFC 9535 JSONPaths whose nodes go: names, indexes and slices from the start, wildcards, descendants.
	Paths []string `yaml:"paths"`
	// Patterns are detectors of the user's own.
	Patterns []Pattern `yaml:"patterns"`
	// Literals are texts that go wherever they stand, whatever their case.
	Literals []string `yaml:"literals"`
	// URLPaths are templates of URL paths whose {parts} go: /feed/{token}/items.
	URLPaths []string `yaml:"url_paths"`
	// Operators say what stands in the place of a value, by the rule's name; [OpClass] where none is named.
	Operators map[string]Operator `yaml:"operators"`
	// PrivateIPs removes private, loopback and link-local addresses as well.
	PrivateIPs bool `yaml:"private_ips"`
	// DuplicateKeys is one of [AllDuplicates], [WithholdAll] when empty.
	DuplicateKeys Duplicates `yaml:"duplicate_keys"`
	// HighEntropy removes long random strings of no known shape, wherever they stand. On in the preset strict.
	HighEntropy bool `yaml:"high_entropy"`
	// HMACKeys are the keys of [OpHMAC]: the first one writes, all are recognised. No file holds them.
	HMACKeys []HMACKey `yaml:"-" json:"-"`

	// MaxBytes is the largest payload that is looked into, in bytes; 0 means [DefaultMaxBytes].
	MaxBytes int `yaml:"max_bytes"`
	// MaxDepth is the deepest nesting of objects and arrays; 0 means [DefaultMaxDepth], at most 1000.
	MaxDepth int `yaml:"max_depth"`
	// MaxTokens is the largest number of values, containers included; 0 means [DefaultMaxTokens].
	MaxTokens int `yaml:"max_tokens"`
	// MaxDecode is how many bytes of encoded text are decoded and looked into; 0 means [DefaultMaxDecode].
	MaxDecode int `yaml:"max_decode_bytes"`
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

func (p Policy) withDefaults() Policy {
	if p.Mode == "" {
		p.Mode = DenyList
		if p.strict() {
			p.Mode = AllowList
		}
	}
	if p.DuplicateKeys == "" {
		p.DuplicateKeys = WithholdAll
	}
	p.HighEntropy = p.HighEntropy || p.strict()
	orDefault(&p.MaxBytes, DefaultMaxBytes)
	orDefault(&p.MaxDepth, DefaultMaxDepth)
	orDefault(&p.MaxTokens, DefaultMaxTokens)
	orDefault(&p.MaxDecode, DefaultMaxDecode)
	orDefault(&p.MaxTextBytes, DefaultMaxTextBytes)
	orDefault(&p.Budget, DefaultBudget)
	return p
}

func orDefault[N int | time.Duration](value *N, otherwise N) {
	if *value == 0 {
		*value = otherwise
	}
}

// validate checks what does not need compiling: the mode and the limits.
func (p Policy) validate() error {
	switch p.Mode {
	case DenyList, AllowList, Withhold:
	default:
		return p.badKey("mode", string(p.Mode), fmt.Errorf("allowed are %q", AllModes()))
	}
	if !slices.Contains(AllDuplicates(), p.DuplicateKeys) {
		return p.badKey("duplicate_keys", string(p.DuplicateKeys), fmt.Errorf("allowed are %q", AllDuplicates()))
	}
	for _, limit := range []struct {
		name     string
		got, max int
	}{
		{"max_bytes", p.MaxBytes, 1 << 30},
		{"max_depth", p.MaxDepth, maxMaxDepth},
		{"max_tokens", p.MaxTokens, 1 << 30},
		{"max_decode_bytes", p.MaxDecode, 1 << 30},
		{"max_text_bytes", p.MaxTextBytes, 1 << 30},
	} {
		if limit.got < 1 || limit.got > limit.max {
			return p.badKey(limit.name, "", fmt.Errorf("%d, allowed is 1 to %d", limit.got, limit.max))
		}
	}
	if p.Budget < 0 {
		return p.badKey("budget", "", fmt.Errorf("%s, allowed is more than 0", p.Budget))
	}
	for _, key := range p.HMACKeys {
		if err := key.validate(); err != nil {
			return err
		}
	}
	return nil
}
