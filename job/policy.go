package job

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/redrivehq/redrive/redaction"
)

// ErrInvalidPolicy is wrapped by every refusal of a policy.
var ErrInvalidPolicy = errors.New("invalid policy")

// PolicyError is the refusal of a policy. Fields are the settings it is about, as they are written in YAML, so that a
// reader of a file can point at the line; Reason states the numbers.
type PolicyError struct {
	Fields []string
	Reason string
}

// Error returns the reason.
func (e *PolicyError) Error() string { return ErrInvalidPolicy.Error() + ": " + e.Reason }

// Unwrap returns ErrInvalidPolicy.
func (e *PolicyError) Unwrap() error { return ErrInvalidPolicy }

func refusePolicy(fields []string, format string, args ...any) error {
	return &PolicyError{Fields: fields, Reason: fmt.Sprintf(format, args...)}
}

// Policy says how jobs of one type are leased, retried, dead-lettered and replayed. Zero fields take the default that
// each field's comment names. Durations in YAML are Go's: 30s, 15m, 720h.
type Policy struct {
	// Lease is how long a worker may be silent before another gets the job (HeartbeatTimeout). Default 30s.
	Lease time.Duration `yaml:"lease,omitempty"`
	// Timeout bounds one attempt; the handler's context ends then. Default 10m.
	Timeout time.Duration `yaml:"timeout,omitempty"`
	// Stall is how long a handler may go on without reporting progress (Lease.Progress); the attempt ends as a timeout then.
	// At Timeout or above it never does. Default 87600h, ten years.
	Stall time.Duration `yaml:"stall,omitempty"`
	// Deadline bounds the whole job, waiting included (ScheduleToClose). Default 24h.
	Deadline time.Duration `yaml:"deadline,omitempty"`
	// MaxAttempts bounds the counted attempts. Default 10.
	MaxAttempts int `yaml:"max_attempts,omitempty"`
	// MaxLeaseLosses bounds the leases a job may lose as the only suspect of its worker process. Default 3.
	MaxLeaseLosses int `yaml:"max_lease_losses,omitempty"`
	// Backoff is the wait between counted attempts.
	Backoff Backoff `yaml:"backoff,omitempty"`
	// Throttle bounds how long a job may be put off by rate limits.
	Throttle ThrottlePolicy `yaml:"throttle,omitempty"`
	// Replay bounds the operator's replays.
	Replay ReplayPolicy `yaml:"replay,omitempty"`
	// Retention is how long a dead letter is kept. Default 2160h (90 days).
	Retention time.Duration `yaml:"retention,omitempty"`
	// KeyTTL is how long the ledger remembers an effect after it was last touched; it must exceed what CheckKeyTTL says.
	// Default 2400h (100 days).
	KeyTTL time.Duration `yaml:"key_ttl,omitempty"`
	// Dedupe says who recognises a key that was processed before. Default temporal.
	Dedupe Dedupe `yaml:"dedupe,omitempty"`
	// PlainStart says what happens to a job whose payload came unencrypted where payloads are encrypted. Default refuse.
	PlainStart PlainStart `yaml:"plain_start,omitempty"`
	// Vault says which payloads are kept out of Temporal from the start. Default large.
	Vault VaultUse `yaml:"vault,omitempty"`
	// Priority orders work in the queues, 1 first. Default 3, allowed 1 to 5.
	Priority int `yaml:"priority,omitempty"`
	// Redaction says what a dead letter may show; the zero value is the built-in rules.
	Redaction redaction.Policy `yaml:"redaction,omitempty"`
}

// ThrottlePolicy bounds throttling, which uses up no attempts.
type ThrottlePolicy struct {
	// MaxAge is how long an unbroken row of throttlings may last. Default 6h.
	MaxAge time.Duration `yaml:"max_age,omitempty"`
}

// ReplayPolicy bounds the replays of one dead letter.
type ReplayPolicy struct {
	// Max is how many replays a dead letter may have. Default 5.
	Max int `yaml:"max,omitempty" json:"max"`
	// MinWait follows a replay that failed again; it doubles each time. Default 1m.
	MinWait time.Duration `yaml:"min_wait,omitempty" json:"min_wait_ns"`
	// MaxWait caps that wait. Default 24h.
	MaxWait time.Duration `yaml:"max_wait,omitempty" json:"max_wait_ns"`
}

// MaxReplays is the most that a policy may allow.
const MaxReplays = 100

// DefaultPolicy returns the documented defaults.
func DefaultPolicy() Policy { return Policy{}.WithDefaults() }

// WithDefaults fills in zero fields.
func (p Policy) WithDefaults() Policy {
	orDuration(&p.Lease, 30*time.Second)
	orDuration(&p.Timeout, 10*time.Minute)
	orDuration(&p.Stall, 10*365*24*time.Hour)
	orDuration(&p.Deadline, 24*time.Hour)
	orInt(&p.MaxAttempts, 10)
	orInt(&p.MaxLeaseLosses, 3)
	p.Backoff = p.Backoff.WithDefaults()
	orDuration(&p.Throttle.MaxAge, 6*time.Hour)
	orInt(&p.Replay.Max, 5)
	orDuration(&p.Replay.MinWait, time.Minute)
	orDuration(&p.Replay.MaxWait, 24*time.Hour)
	orDuration(&p.Retention, 90*24*time.Hour)
	orDuration(&p.KeyTTL, defaultKeyTTL)
	if p.Dedupe == "" {
		p.Dedupe = DedupeTemporal
	}
	if p.PlainStart == "" {
		p.PlainStart = PlainStartRefuse
	}
	if p.Vault == "" {
		p.Vault = VaultLarge
	}
	orInt(&p.Priority, 3)
	return p
}

func orDuration(d *time.Duration, fallback time.Duration) {
	if *d == 0 {
		*d = fallback
	}
}

func orInt(n *int, fallback int) {
	if *n == 0 {
		*n = fallback
	}
}

// IsZero tells whether nothing is set.
func (p Policy) IsZero() bool { return reflect.DeepEqual(p, Policy{}) }

// WithoutRedaction is p without the part that a worker applies to its own handlers whether it holds the policy set or not.
func (p Policy) WithoutRedaction() Policy {
	p.Redaction = redaction.Policy{}
	return p
}

// MinLease is the shortest lease that leaves room for two lost heartbeats.
const MinLease = time.Second

// Validate refuses numbers that are out of range or contradict each other. Call it after WithDefaults.
// The error is a *PolicyError that states the numbers.
func (p Policy) Validate() error {
	p = p.WithDefaults()
	switch {
	case p.Lease < MinLease:
		return refusePolicy([]string{"lease"}, "lease %s is below %s, the shortest that survives two lost heartbeats", p.Lease, MinLease)
	case p.Timeout < p.Lease:
		return refusePolicy([]string{"timeout", "lease"}, "timeout %s is shorter than lease %s", p.Timeout, p.Lease)
	case p.Stall < MinLease:
		return refusePolicy([]string{"stall"}, "stall %s is below %s", p.Stall, MinLease)
	case p.Deadline < p.Timeout:
		return refusePolicy([]string{"deadline", "timeout"}, "deadline %s is shorter than timeout %s of one attempt", p.Deadline, p.Timeout)
	case p.MaxAttempts < 1 || p.MaxAttempts > 1000:
		return refusePolicy([]string{"max_attempts"}, "max_attempts is %d, allowed are 1 to 1000", p.MaxAttempts)
	case p.MaxLeaseLosses < 1 || p.MaxLeaseLosses > 100:
		return refusePolicy([]string{"max_lease_losses"}, "max_lease_losses is %d, allowed are 1 to 100", p.MaxLeaseLosses)
	case p.Throttle.MaxAge < 0:
		return refusePolicy([]string{"throttle.max_age"}, "throttle.max_age is %s, it must not be negative", p.Throttle.MaxAge)
	case p.Replay.Max < 1 || p.Replay.Max > MaxReplays:
		return refusePolicy([]string{"replay.max"}, "replay.max is %d, allowed are 1 to %d", p.Replay.Max, MaxReplays)
	case p.Replay.MinWait < 0 || p.Replay.MaxWait < p.Replay.MinWait:
		return refusePolicy([]string{"replay.max_wait", "replay.min_wait"}, "replay.max_wait %s is shorter than replay.min_wait %s", p.Replay.MaxWait, p.Replay.MinWait)
	case p.Retention < 0 || p.KeyTTL < 0:
		return refusePolicy([]string{"retention", "key_ttl"}, "retention %s and key_ttl %s must not be negative", p.Retention, p.KeyTTL)
	case !slices.Contains(AllDedupes(), p.Dedupe):
		return refusePolicy([]string{"dedupe"}, "dedupe is not a known way, allowed are %s and %s", DedupeTemporal, DedupeStore)
	case !slices.Contains(AllPlainStarts(), p.PlainStart):
		return refusePolicy([]string{"plain_start"}, "plain_start is not a known rule, allowed are %s and %s", PlainStartRefuse, PlainStartAllow)
	case !slices.Contains(AllVaultUses(), p.Vault):
		return refusePolicy([]string{"vault"}, "vault is not a known use, allowed are %s and %s", VaultLarge, VaultAlways)
	case p.Priority < 1 || p.Priority > 5:
		return refusePolicy([]string{"priority"}, "priority is %d, allowed are 1 (first) to 5", p.Priority)
	}
	if err := p.Backoff.Validate(); err != nil {
		return err
	}
	return CheckKeyTTL(p)
}

// Policies is the complete set of a deployment. Only workers that hold it poll the workflow queue; otherwise whichever
// service took the workflow task would set leases and deadlines from its own file.
type Policies struct {
	Default Policy
	ByType  map[Type]Policy
}

// For returns the policy of t with all defaults filled in: its own, else the set's default.
func (p Policies) For(t Type) Policy {
	if own, ok := p.ByType[t]; ok {
		return own.WithDefaults()
	}
	return p.Default.WithDefaults()
}

// Limits is the part of a policy that the attempt runner enforces. It travels with the assignment, since a worker that
// only runs handlers holds no policy set.
type Limits struct {
	MaxAttempts    int           `json:"max_attempts"`
	MaxLeaseLosses int           `json:"max_lease_losses"`
	Timeout        time.Duration `json:"timeout_ns"`
	Stall          time.Duration `json:"stall_ns"` // at Timeout or above: no limit
	Backoff        Backoff       `json:"backoff"`
	ThrottleMaxAge time.Duration `json:"throttle_max_age_ns"`
	Deadline       time.Time     `json:"deadline"`
	KeyTTL         time.Duration `json:"key_ttl_ns,omitempty"` // of the ledger's memory; 0 is the default
	Dedupe         Dedupe        `json:"dedupe,omitempty"`
	PlainStart     PlainStart    `json:"plain_start,omitempty"`
}

// LimitsUntil returns what the runner needs of p, for a job that begins now and must end by deadline. A job with a later
// deadline than the policy's has a longer retry horizon, and its key is remembered for as much longer.
func (p Policy) LimitsUntil(now, deadline time.Time) Limits {
	return Limits{
		MaxAttempts: p.MaxAttempts, MaxLeaseLosses: p.MaxLeaseLosses, Timeout: p.Timeout, Stall: p.Stall, Backoff: p.Backoff,
		ThrottleMaxAge: p.Throttle.MaxAge, Deadline: deadline, KeyTTL: p.KeyTTL + max(deadline.Sub(now)-p.Deadline, 0),
		Dedupe: p.Dedupe, PlainStart: p.PlainStart,
	}
}
