package job

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxListedEffects bounds the effects that a dead letter shows: a job may have one for each mail of a campaign.
const MaxListedEffects = 50

// EffectStanding is where an effect stands in the ledger, for people and for Replay. It has no result: that is the
// handler's own.
type EffectStanding struct {
	Name  string      `json:"name"`
	State EffectState `json:"state"`
	Fence int64       `json:"fence"`
	// Unsettled: nobody knows whether it happened. The state is unknown, or it is a claim that lapsed and that no other
	// attempt may take over.
	Unsettled bool      `json:"unsettled,omitempty"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Standing returns the record without its result.
func (r EffectRecord) Standing() EffectStanding {
	lapsed := r.State == EffectClaimed && r.Lapsed && !r.Downstream
	return EffectStanding{
		Name: r.Effect.Name, State: r.State, Fence: r.Fence, Unsettled: lapsed || r.State == EffectUnknown, UpdatedAt: r.UpdatedAt,
	}
}

// UnsettledEffects returns the names of those that wait for a settlement.
func UnsettledEffects(effects []EffectStanding) []string {
	var names []string
	for _, e := range effects {
		if e.Unsettled {
			names = append(names, e.Name)
		}
	}
	return names
}

// Reconciled tells whether somebody gave their word on an effect after the current failure.
func (l DeadLetter) Reconciled() bool {
	for _, r := range l.Requests {
		if r.Kind == RequestReconcile && r.Accepted && r.At.After(l.LastFailure) {
			return true
		}
	}
	return false
}

// ToReconcile names the effects that must be settled before a replay. known is false when an effect must be and no ledger
// has its name: the handler said by itself that nobody knows.
func (l DeadLetter) ToReconcile() (names []string, known bool) {
	names = UnsettledEffects(l.Effects)
	return names, len(names) > 0 || l.Class.Need() != NeedReconcile || l.Reconciled()
}

// validateReconcile checks what only a reconcile has; it quotes no value.
func (r Request) validateReconcile() error {
	if err := checkHandlersEffect(r.Effect); err != nil {
		return fmt.Errorf(`reconcile needs "effect": %w`, err)
	}
	if r.Happened == nil {
		return errors.New(`reconcile needs "happened", true or false`)
	}
	if r.Result != nil && !*r.Happened {
		return errors.New(`"result" is that of an effect that happened, and "happened" is false`)
	}
	if err := CheckEffectResult(r.Result); err != nil {
		return fmt.Errorf(`"result": %w`, err)
	}
	return nil
}

// needsReconcile refuses a replay until every effect is settled.
func (p *Parked) needsReconcile() *Refusal {
	if len(p.Unsettled) == 0 { // the handler's own word, or a ledger that these workers do not know
		return &Refusal{RefusedNeedsReconcile, "nobody knows whether the job's effect happened; reconcile that before a replay"}
	}
	return &Refusal{RefusedNeedsReconcile, "nobody knows whether these effects happened; reconcile each before a replay: " +
		strings.Join(p.Unsettled, ", ")}
}

// CheckReconcile tells whether the dead letter takes a reconcile at all.
func (p *Parked) CheckReconcile() *Refusal { return p.checkParked() }

// CheckSettlement tells whether the word of a valid reconcile fits what the ledger knows of the effect: nil when it knows
// nothing.
func (p *Parked) CheckSettlement(r Request, known *EffectStanding) *Refusal {
	invalid := func(format string, args ...any) *Refusal {
		return &Refusal{RefusedInvalidRequest, fmt.Sprintf("the ledger "+format, args...)}
	}
	switch {
	case known != nil && known.State == EffectDone && !*r.Happened:
		return invalid("has effect %s as done: it did happen", r.Effect)
	case known != nil:
		return nil
	case len(p.Unsettled) > 0:
		return invalid("has no effect %s of this job; to be settled: %s", r.Effect, strings.Join(p.Unsettled, ", "))
	case p.Current.Class.Need() != NeedReconcile:
		return invalid("has no effect %s of this job, and nothing waits to be settled", r.Effect)
	case *r.Happened: // there is nowhere to store it, and a replay would apply it again
		return invalid("has no effect %s of this job, so a replay would apply it; discard the dead letter if nothing is left to do", r.Effect)
	}
	return nil
}

// Settlement is the request's word on an effect as the ledger knows it.
func (r Request) Settlement(effect EffectID, known EffectStanding) Settlement {
	return Settlement{Effect: effect, Fence: known.Fence, Happened: *r.Happened, Result: r.Result}
}
