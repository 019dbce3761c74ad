package worker

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// ErrInvalidOptions is wrapped by every refusal of Options.
var ErrInvalidOptions = errors.New("invalid worker options")

// Handlers holds the handlers of a process; its zero value is ready for Register.
type Handlers = activities.Registry

// Store and Vault are what a worker that holds the policies needs.
type (
	Store    = activities.Store
	Vault    = activities.Vault
	Payloads = activities.Payloads
)

// Register adds the handler of one job type; see activities.Register for the errors.
func Register[P any](h *Handlers, definition job.Definition, handle job.Handler[P]) error {
	return activities.Register(h, definition, handle)
}

// Options configure a Worker. The zero value of each field is its documented default.
type Options struct {
	// Handlers to run. None is allowed for a worker that only runs workflows.
	Handlers *Handlers
	// HandlerVersion names this build to replays. Default: BuildVersion().
	HandlerVersion string
	// Policies is the complete set. Nil: this worker polls lanes only.
	Policies *job.Policies
	// Store and Vault are required with Policies.
	Store Store
	Vault Vault
	// Ledger applies effects once, for handlers registered with job.EffectsLedger; it is a store's DB. Default: Store,
	// when that is one. With Policies, operators' words on effects go to it too, so it must be the one that lanes use.
	Ledger job.Ledger
	// PurgeEvery is how often a worker with Policies forgets the effects whose key TTL has ended, give or take half, when
	// Ledger can: a store's DB does. Default 10m.
	PurgeEvery time.Duration
	// Payloads opens payload references on lanes. Default: Vault. Without either, replays are handed to other workers.
	Payloads Payloads
	// Drain is how long running handlers may go on after a stop. What then has not finished is handed back, which takes up
	// to activities.HandBackTime with a handler that does not heed its context. Default 10s.
	Drain time.Duration
	// MaxConcurrent bounds the handlers that run at once, per job type. Default 20.
	MaxConcurrent int
	// Identity of this process in Temporal and in attempt logs. Default: process id and host.
	Identity string
	// Observer hears what happens to leases, attempts and effects; telemetry.Metrics is one. Default: nobody.
	Observer job.Observer
	// Logger. Default: none.
	Logger *zap.Logger
}

func (o Options) withDefaults() Options {
	if o.Handlers == nil {
		o.Handlers = &Handlers{}
	}
	if o.HandlerVersion == "" {
		o.HandlerVersion = BuildVersion()
	}
	if o.Payloads == nil && o.Vault != nil {
		o.Payloads = o.Vault
	}
	if ledger, ok := o.Store.(job.Ledger); ok && o.Ledger == nil {
		o.Ledger = ledger
	}
	if o.PurgeEvery == 0 {
		o.PurgeEvery = 10 * time.Minute
	}
	if o.Drain == 0 {
		o.Drain = 10 * time.Second
	}
	if o.MaxConcurrent == 0 {
		o.MaxConcurrent = 20
	}
	if o.Identity == "" {
		o.Identity = processName()
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Policies == nil && len(o.Handlers.Types()) == 0:
		return fmt.Errorf("%w: neither handlers nor policies were given, there is nothing to poll", ErrInvalidOptions)
	case o.Policies != nil && (o.Store == nil || o.Vault == nil):
		return fmt.Errorf("%w: a worker with policies also writes dead letters and needs a store and a vault", ErrInvalidOptions)
	case o.Drain < 0 || o.MaxConcurrent < 0:
		return fmt.Errorf("%w: drain %s and max concurrent %d must not be negative", ErrInvalidOptions, o.Drain, o.MaxConcurrent)
	case o.PurgeEvery < 0:
		return fmt.Errorf("%w: purge every %s must not be negative", ErrInvalidOptions, o.PurgeEvery)
	case len(o.HandlerVersion) > job.MaxNameBytes:
		return fmt.Errorf("%w: the handler version is %d bytes, at most %d are allowed", ErrInvalidOptions, len(o.HandlerVersion), job.MaxNameBytes)
	}
	if o.Ledger == nil {
		return o.validateWithoutLedger()
	}
	return nil
}

// validateWithoutLedger refuses handlers that need one. A worker without policies learns only from the attempts themselves
// what the policies say; it hands those back that it cannot run.
func (o Options) validateWithoutLedger() error {
	for _, t := range o.Handlers.Types() {
		if d, _ := o.Handlers.Definition(t); d.Effects == job.EffectsLedger {
			return fmt.Errorf("%w: job type %s keeps its effects single by the ledger, and there is none; set Ledger", ErrInvalidOptions, t)
		}
		if o.policy(t).Dedupe == job.DedupeStore {
			return fmt.Errorf("%w: job type %s has its keys recognised by the ledger (dedupe: store), and there is none; set Ledger", ErrInvalidOptions, t)
		}
	}
	return nil
}

// policy is what t's jobs get, as far as this worker knows.
func (o Options) policy(t job.Type) job.Policy {
	definition, _ := o.Handlers.Definition(t)
	if o.Policies == nil {
		return definition.Policy
	}
	if own, ok := o.Policies.ByType[t]; ok {
		return own
	}
	if !definition.Policy.IsZero() {
		return definition.Policy
	}
	return o.Policies.Default
}

// policies returns the complete set: the file's entry of a type, else what its handler was registered with, else the
// set's default.
func (o Options) policies() (job.Policies, error) {
	set := job.Policies{Default: o.Policies.Default, ByType: map[job.Type]job.Policy{}}
	for _, t := range o.Handlers.Types() {
		if definition, _ := o.Handlers.Definition(t); !definition.Policy.IsZero() {
			set.ByType[t] = definition.Policy
		}
	}
	for t, policy := range o.Policies.ByType {
		set.ByType[t] = policy
	}
	if err := set.Default.Validate(); err != nil {
		return set, fmt.Errorf("default policy: %w", err)
	}
	for t, policy := range set.ByType {
		if err := policy.Validate(); err != nil {
			return set, fmt.Errorf("policy of job type %s: %w", t, err)
		}
	}
	return set, nil
}
