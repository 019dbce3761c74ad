package job

import (
	"context"
	"errors"
	"fmt"
)

// Handler is the user's code for one job type. P is the payload's Go type, decoded from JSON; when P has a
// Validate() error method, it is called before the handler. The result must encode to JSON and is returned by the job.
// The error's class decides what happens next; see Classify.
type Handler[P any] func(ctx context.Context, payload P) (result any, err error)

// Effects says how a handler keeps its side effects from happening twice when a job runs again.
type Effects string

// The ways to be idempotent.
const (
	EffectsNone       Effects = "none"           // the handler has no side effect, or only ones that may repeat
	EffectsLedger     Effects = "ledger"         // each effect is applied through redrive's ledger
	EffectsDownstream Effects = "downstream_key" // the system called deduplicates by the job key
)

// AllEffects returns every way.
func AllEffects() []Effects { return []Effects{EffectsNone, EffectsLedger, EffectsDownstream} }

// ErrInvalidDefinition is wrapped by every refusal of a Definition.
var ErrInvalidDefinition = errors.New("invalid handler definition")

// Definition registers a handler. Type, Effects and Owner are required: whoever is woken at night needs to know what
// a replay repeats and whom to ask.
type Definition struct {
	Type    Type
	Effects Effects
	Owner   string // a team or person
	Runbook string // a link, welcome
	// SchemaVersions that the handler understands; empty means 1. Others are unsupported_schema.
	SchemaVersions []int
	// Policy applies when the worker's policy set has no entry for Type; the zero value is the set's default. A worker that
	// holds no set uses its Redaction only, and warns.
	Policy Policy
	// Classify maps the handler's own errors to classes; it is asked when an error carries no class itself.
	Classify func(error) Class
}

// WithDefaults fills in the schema versions.
func (d Definition) WithDefaults() Definition {
	if len(d.SchemaVersions) == 0 {
		d.SchemaVersions = []int{1}
	}
	return d
}

// Validate refuses a definition without type, effects or owner; the error wraps ErrInvalidDefinition or ErrInvalidKey.
func (d Definition) Validate() error {
	if err := d.Type.Validate(); err != nil {
		return err
	}
	known := false
	for _, e := range AllEffects() {
		known = known || e == d.Effects
	}
	if !known {
		return fmt.Errorf("%w: job type %s has effects %q; say how the handler is idempotent, one of %v",
			ErrInvalidDefinition, d.Type, d.Effects, AllEffects())
	}
	if d.Owner == "" {
		return fmt.Errorf("%w: job type %s has no owner", ErrInvalidDefinition, d.Type)
	}
	for _, v := range d.SchemaVersions {
		if v < 1 {
			return fmt.Errorf("%w: job type %s lists schema version %d, they start at 1", ErrInvalidDefinition, d.Type, v)
		}
	}
	if err := d.Policy.Validate(); err != nil {
		return fmt.Errorf("job type %s: %w", d.Type, err)
	}
	return nil
}

// Supports tells whether the handler understands schema version v.
func (d Definition) Supports(v int) bool {
	for _, known := range d.SchemaVersions {
		if known == v {
			return true
		}
	}
	return false
}
