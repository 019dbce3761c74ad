package job

import (
	"fmt"
	"time"
)

// CheckReplay tells whether a replay may go on to the probe: everything that needs no look at the live handlers.
// It is pure, so that a workflow may call it.
func (p *Parked) CheckReplay(now time.Time) *Refusal {
	switch {
	case p.State == StateResolved:
		return &Refusal{RefusedAlreadyResolved, "an earlier replay resolved this dead letter"}
	case p.State == StateDiscarded || p.State == StateExpired:
		return &Refusal{RefusedClosed, fmt.Sprintf("the dead letter is %s", p.State)}
	case p.Open != nil:
		return &Refusal{RefusedAlreadyReplaying, fmt.Sprintf("replay %d is still running", p.Open.Number)}
	case p.Replays >= p.Policy.Max:
		return &Refusal{RefusedReplayLimit, fmt.Sprintf("%d replays were made, the policy's replay.max is %d", p.Replays, p.Policy.Max)}
	case now.Before(p.NotBefore):
		return &Refusal{RefusedTooEarly, "the last replay failed again; not before " + p.NotBefore.UTC().Format(time.RFC3339)}
	case p.Current.Class.Need() == NeedReconcile && (len(p.Unsettled) > 0 || !p.Reconciled):
		return p.needsReconcile()
	case p.Current.PayloadRef == "":
		return &Refusal{RefusedPayloadUnavailable, "no payload is recorded that a handler could take; start the job again with a valid envelope"}
	case p.PayloadGone:
		return &Refusal{RefusedPayloadUnavailable, "the payload is not in the vault (it may have been erased), or does not open"}
	}
	return nil
}

// Rule returns which builds may run the replay that r asks for. A build that failed is refused where the class needs a
// repair, unless the operator forces it.
func (p *Parked) Rule(r Request) VersionRule {
	rule := VersionRule{Only: r.Fixed}
	if p.Current.Class.Need() == NeedRepair && !r.Force {
		rule.Not = addVersion(p.Current.Versions, p.Current.Version)
	}
	return rule
}

// CheckVersion refuses a named fixed version that is among those that failed.
func (p *Parked) CheckVersion(r Request) *Refusal {
	rule := p.Rule(r)
	if p.Current.Class.Need() == NeedRepair && !r.Force && r.Fixed == "" && len(rule.Not) == 0 {
		return &Refusal{RefusedVersionUnchanged, "no build has failed on it yet, so none is known to be repaired; name a fixed_version, or force with a reason"}
	}
	for _, failed := range rule.Not {
		if r.Fixed != "" && logName(failed) == logName(r.Fixed) {
			return &Refusal{RefusedVersionUnchanged, fmt.Sprintf("version %s is among those that failed", r.Fixed)}
		}
	}
	return nil
}

// CheckDiscard tells whether a discard may be carried out.
func (p *Parked) CheckDiscard() *Refusal { return p.checkParked() }

// checkParked refuses what only a dead letter that waits for its operator can take.
func (p *Parked) checkParked() *Refusal {
	switch p.State {
	case StateResolved:
		return &Refusal{RefusedAlreadyResolved, "an earlier replay resolved this dead letter"}
	case StateDiscarded, StateExpired:
		return &Refusal{RefusedClosed, fmt.Sprintf("the dead letter is %s", p.State)}
	case StateReplaying:
		return &Refusal{RefusedAlreadyReplaying, "a replay is running"}
	}
	return nil
}
