package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Limits of an effect.
const (
	MaxEffectNameBytes = 64
	// MaxEffectResultBytes bounds a stored result, encoded. A result is an id or a receipt, not data: it is kept in clear
	// for the key's whole TTL.
	MaxEffectResultBytes = 64 << 10
)

// What a ledger says about an effect. Every other error of a ledger is trouble that may pass.
var (
	// ErrEffectHeld: another holder's claim is live. Come back later.
	ErrEffectHeld = errors.New("effect is held by another attempt")
	// ErrEffectUnknown: the effect may or may not have happened, and somebody must find out; see Settlement.
	ErrEffectUnknown = errors.New("nobody recorded whether the effect happened")
	// ErrFenced: the claim is stale. The effect was claimed again since, or the ledger does not know it any more.
	ErrFenced = errors.New("effect was claimed by a newer attempt")
	// ErrEffectSettled: the effect is recorded as done, which a settlement does not take back.
	ErrEffectSettled = errors.New("effect is recorded as done")
	// ErrEffectResult: a result that is not JSON, is too large, or was not kept.
	ErrEffectResult = errors.New("effect result not storable")
	// ErrInvalidEffect: a name or a claim outside the rules.
	ErrInvalidEffect = errors.New("invalid effect")
	// ErrLedgerUnavailable: the ledger could not be asked, or is missing. It is trouble around the job.
	ErrLedgerUnavailable = errors.New("ledger unavailable")
)

// EffectID names one effect of one job for ever: attempts, replays and edits keep it.
type EffectID struct {
	Namespace string `json:"namespace"` // Temporal's: equal keys in two namespaces are two jobs
	Job       KeyID  `json:"job"`
	Name      string `json:"name"` // [a-z0-9._-]{1,64}, unique within the job: "charge", or "mail.7" for the seventh of many
}

// String returns "type:key name".
func (id EffectID) String() string { return id.Job.String() + " " + id.Name }

// Validate refuses a name outside [a-z0-9._-]{1,64} and a job identity that no job has; the error wraps ErrInvalidEffect.
func (id EffectID) Validate() error {
	if err := id.Job.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidEffect, err)
	}
	return checkEffectName(id.Name)
}

// reservedEffects begin the names that are redrive's own.
const reservedEffects = "redrive."

// checkHandlersEffect is checkEffectName for a name that a handler or an operator gives.
func checkHandlersEffect(name string) error {
	if strings.HasPrefix(name, reservedEffects) {
		return fmt.Errorf("%w: names that begin with %q are redrive's own", ErrInvalidEffect, reservedEffects)
	}
	return checkEffectName(name)
}

func checkEffectName(name string) error {
	if name == "" || len(name) > MaxEffectNameBytes {
		return fmt.Errorf("%w: the name is %d bytes, allowed are 1 to %d", ErrInvalidEffect, len(name), MaxEffectNameBytes)
	}
	for i, r := range name {
		lower := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !lower && !strings.ContainsRune("._-", r) {
			return fmt.Errorf("%w: the name has %q at byte %d, allowed are a-z 0-9 . _ -", ErrInvalidEffect, r, i)
		}
	}
	return nil
}

// DownstreamKey is the idempotency key for the system that is called: "rd_" and 26 characters of a-z2-7, the same for every
// attempt and replay. The job's key cannot be read out of it.
func (id EffectID) DownstreamKey() string {
	return "rd_" + digestName(id.Namespace, id.Job.String(), id.Name)
}

// EffectState is where an effect stands in the ledger.
type EffectState string

// The effect states.
const (
	EffectFree    EffectState = "free"    // not applied; the next caller may
	EffectClaimed EffectState = "claimed" // somebody applies it, or died doing so
	EffectDone    EffectState = "done"
	EffectUnknown EffectState = "unknown" // waits for a Settlement
)

// AllEffectStates returns every state.
func AllEffectStates() []EffectState {
	return []EffectState{EffectFree, EffectClaimed, EffectDone, EffectUnknown}
}

// EffectEvent is what happened to one call of Once, for metrics.
type EffectEvent string

// The effect events.
const (
	EffectWasApplied      EffectEvent = "applied"
	EffectWasDeduplicated EffectEvent = "deduplicated" // the stored result was returned
	EffectWasHeld         EffectEvent = "held"         // told to come back
	EffectWasFenced       EffectEvent = "fenced"       // a stale holder was refused
	EffectWasUnknown      EffectEvent = "unknown"
	// EffectWasDuplicated comes after fenced: the stale holder's call had gone through, and the system called does not
	// deduplicate, so the effect may stand twice.
	EffectWasDuplicated EffectEvent = "duplicated"
)

// AllEffectEvents returns every event.
func AllEffectEvents() []EffectEvent {
	return []EffectEvent{
		EffectWasApplied, EffectWasDeduplicated, EffectWasHeld, EffectWasFenced, EffectWasUnknown, EffectWasDuplicated,
	}
}

// EffectClaim is the right to apply an effect, until a claim with a higher fence is granted.
type EffectClaim struct {
	Effect EffectID
	Fence  int64 // from the ledger; it rises with every claim of the effect, and never falls
}

// ClaimRequest asks for an effect.
type ClaimRequest struct {
	Effect EffectID
	// Holder is unique to this call: whoever asks again under the same name gets the same claim, since the first answer
	// may have been lost.
	Holder string
	Lease  time.Duration // how long the claim is live without being renewed, by the ledger's clock
	KeyTTL time.Duration // how long the ledger remembers the effect after it was last touched
	// Downstream: the system called deduplicates by DownstreamKey, so a claim that lapsed may be taken over, if that was
	// made under the same declaration.
	Downstream bool
}

// Validate refuses what no ledger can keep; the error wraps ErrInvalidEffect.
func (r ClaimRequest) Validate() error {
	switch {
	case r.Holder == "":
		return fmt.Errorf("%w: a claim needs a holder", ErrInvalidEffect)
	case r.Lease < time.Microsecond:
		return fmt.Errorf("%w: the claim's lease is %s, at least 1µs is needed", ErrInvalidEffect, r.Lease)
	case r.KeyTTL < r.Lease:
		return fmt.Errorf("%w: the key TTL %s is shorter than the claim's lease %s", ErrInvalidEffect, r.KeyTTL, r.Lease)
	}
	return r.Effect.Validate()
}

// Claimed answers a ClaimRequest: the effect is the caller's to apply, or it is Done.
type Claimed struct {
	Claim  EffectClaim
	Done   bool
	Result json.RawMessage // of a done effect; nil when its result could not be kept
}

// EffectHeldError is ErrEffectHeld with the time after which the holder's claim lapses unless it is renewed.
type EffectHeldError struct {
	Effect EffectID
	For    time.Duration
}

// Error names the effect.
func (e *EffectHeldError) Error() string { return fmt.Sprintf("%v, for %s", ErrEffectHeld, e.For) }

// Unwrap returns ErrEffectHeld.
func (e *EffectHeldError) Unwrap() error { return ErrEffectHeld }

// EffectRecord is an effect as the ledger has it. Times are by the ledger's clock.
type EffectRecord struct {
	Effect       EffectID
	Fence        int64
	State        EffectState
	Holder       string // the last one
	Downstream   bool
	ClaimExpires *time.Time // of a claim
	Lapsed       bool       // a claim that was live no more when this was read
	Result       json.RawMessage
	CreatedAt    time.Time
	UpdatedAt    time.Time
	ExpiresAt    time.Time // when the ledger may forget the effect
}

// Settlement is somebody's word on an effect that nobody recorded. Its zero value says that it did not happen.
type Settlement struct {
	Effect EffectID `json:"effect"`
	// Fence is that of the record the word is about; 0 means whatever there is. A late repetition that names its fence
	// cannot settle a later claim.
	Fence    int64 `json:"fence"`
	Happened bool  `json:"happened"`
	// Result is what later callers of a happened effect get; nil means that there is none to give, see Once.
	Result json.RawMessage `json:"result,omitempty"`
}

// CheckEffectResult refuses a result that is not JSON or too large; the error wraps ErrEffectResult and has the numbers.
func CheckEffectResult(result json.RawMessage) error {
	if len(result) > MaxEffectResultBytes {
		return fmt.Errorf("%w: it is %d bytes, at most %d are stored", ErrEffectResult, len(result), MaxEffectResultBytes)
	}
	if result != nil && !json.Valid(result) {
		return fmt.Errorf("%w: it is not JSON", ErrEffectResult)
	}
	return nil
}
