package job

import (
	"github.com/redrivehq/redrive/redaction"
)

// LeaseEvent is what happened to a lease, for metrics.
type LeaseEvent string

// The lease events.
const (
	LeaseGranted  LeaseEvent = "granted"
	LeaseExtended LeaseEvent = "extended" // an acknowledged heartbeat
	// LeaseExpired: the lease lapsed while its handler ran. It is seen when the next attempt starts.
	LeaseExpired LeaseEvent = "expired"
	// LeaseUndelivered: an attempt left no trace at all: its worker died before the first heartbeat, did not know the job
	// type, or never got the task. No limit counts it.
	LeaseUndelivered LeaseEvent = "undelivered"
	// LeaseSuspect: the lease was granted to a suspect, see AttemptLog.Suspect.
	LeaseSuspect LeaseEvent = "suspect"
)

// AllLeaseEvents returns every event.
func AllLeaseEvents() []LeaseEvent {
	return []LeaseEvent{LeaseGranted, LeaseExtended, LeaseExpired, LeaseUndelivered, LeaseSuspect}
}

// AttemptEnd is how an attempt ended, for metrics: a Class, or one of these.
type AttemptEnd string

// The ends that are no class.
const (
	AttemptCompleted  AttemptEnd = "completed"
	AttemptHandedBack AttemptEnd = "handed_back" // uncounted: a drain, a pause, a held effect, a build that may not run it
	AttemptCanceled   AttemptEnd = "canceled"
)

// WithheldByVerification is the reason of a payload whose redacted form still held a value that had to go.
const WithheldByVerification = string(redaction.ReasonVerification)

// Observer hears what happens to leases, attempts, effects and payloads, for metrics. Calls come from many goroutines and must not
// block. The embedded Unobserved makes an observer that hears only some of it.
type Observer interface {
	// Lease is told of n events at once.
	Lease(t Type, event LeaseEvent, n int)
	// Attempt is told how an attempt ended.
	Attempt(t Type, end AttemptEnd)
	// Finished is told when a job completed (StateCompleted) or became a dead letter (StateDeadLettered), and how many
	// counted attempts that took.
	Finished(t Type, state State, counted int)
	// Effect is told what became of a call of Once, or of an effect within a transaction.
	Effect(t Type, event EffectEvent)
	// Withheld is told that a payload could not be redacted safely, and why (a redaction.Reason).
	Withheld(t Type, reason string)
	// Privacy is told of what came past the payload codec, or tried to. An event of a workflow may be told twice.
	Privacy(t Type, event PrivacyEvent)
}

// Unobserved hears nothing.
type Unobserved struct{}

// Lease implements Observer.
func (Unobserved) Lease(Type, LeaseEvent, int) {}

// Attempt implements Observer.
func (Unobserved) Attempt(Type, AttemptEnd) {}

// Finished implements Observer.
func (Unobserved) Finished(Type, State, int) {}

// Privacy implements Observer.
func (Unobserved) Privacy(Type, PrivacyEvent) {}

// Effect implements Observer.
func (Unobserved) Effect(Type, EffectEvent) {}

// Withheld implements Observer.
func (Unobserved) Withheld(Type, string) {}
