package job

import (
	"encoding/json"
	"time"
)

// Assignment is the input of a handler activity: the envelope and the limits that the runner enforces.
type Assignment struct {
	Envelope Envelope `json:"envelope"`
	Limits   Limits   `json:"limits"`
	// Plain says that the payload was not encrypted when it came.
	Plain bool `json:"plain,omitempty"`
}

// SealedRequest is an operator's request as an encrypting client sent it. It is opened by an activity: a workflow that has
// not got the key could only wait, and every request behind this one with it.
type SealedRequest struct {
	Namespace  string `json:"namespace"`
	WorkflowID string `json:"workflow_id"`
	Payload    []byte `json:"payload"` // as Temporal has it, marshaled
}

// OpenedRequest answers a SealedRequest: its JSON, or why it does not open and never will.
type OpenedRequest struct {
	Input   json.RawMessage `json:"input,omitempty"`
	Refusal string          `json:"refusal,omitempty"`
}

// DeathNotice tells the dead-letter activity that a run of a job stopped. It holds no payload: the activity reads that
// from the run's own first event, or from the vault.
type DeathNotice struct {
	Namespace     string     `json:"namespace"`
	ID            KeyID      `json:"id"`
	WorkflowID    string     `json:"workflow_id"`
	RunID         string     `json:"run_id"`
	StoppedAt     time.Time  `json:"stopped_at"`
	SchemaVersion int        `json:"schema_version"`
	Subject       string     `json:"subject,omitempty"`
	Tags          []string   `json:"tags,omitempty"`
	PayloadRef    PayloadRef `json:"payload_ref,omitempty"`
	Unparsed      bool       `json:"unparsed,omitempty"` // the input was not an envelope: all of it is the payload
	Replay        *ReplayRun `json:"replay,omitempty"`
	Class         Class      `json:"error_class"`
	Cause         Cause      `json:"cause"`
	Message       string     `json:"message"`
	Report        Report     `json:"report"`
	// NeverStarted says that the deadline passed before any attempt ran: the writer asks whether the lane has pollers.
	NeverStarted bool `json:"never_started,omitempty"`
}

// Death answers a DeathNotice once the record is durable. Summary and Details are what the Temporal Web UI shows.
type Death struct {
	DeadLettered
	Summary string `json:"summary"`
	Details string `json:"details"`
}

// DeadLettered is the details of the error a dead-lettered job fails with, and of the signal that tells an open Replay
// of one more failure of its key.
type DeadLettered struct {
	DeadLetterID  DeadLetterID `json:"dead_letter_id"`
	Class         Class        `json:"error_class"`
	Cause         Cause        `json:"cause"`
	Attempts      int          `json:"attempts"` // counted
	Fingerprint   string       `json:"fingerprint,omitempty"`
	Version       string       `json:"handler_version,omitempty"`
	Versions      []string     `json:"failed_versions,omitempty"`
	RunID         string       `json:"run_id"`
	PayloadRef    PayloadRef   `json:"payload_ref,omitempty"`
	SchemaVersion int          `json:"schema_version,omitempty"`
	FailedAt      time.Time    `json:"failed_at"`
}

// ReplayInput starts Replay. Anything more is loaded from the store, so that a Replay started by an operator's request
// after a loss begins exactly like one that Job started.
type ReplayInput struct {
	DeadLetterID DeadLetterID `json:"dead_letter_id"`
	ID           KeyID        `json:"id"`
}

// Parked is the working state of Replay, as its query "state" shows it.
type Parked struct {
	DeadLetterID DeadLetterID `json:"dead_letter_id"`
	ID           KeyID        `json:"id"`
	State        State        `json:"state"`
	// Current is the newest failure; its Versions are every build that failed on the current payload.
	Current DeadLettered `json:"current"`
	Policy  ReplayPolicy `json:"policy"`
	// PayloadGone: the payload was missing when the job ran last, or was erased since, and does not open now either.
	PayloadGone bool `json:"payload_gone,omitempty"`
	// Unsettled names the effects of which nobody knows whether they happened, the first MaxListedEffects of them.
	Unsettled []string `json:"unsettled,omitempty"`
	// Reconciled: somebody gave their word on an effect after the current failure.
	Reconciled  bool      `json:"reconciled,omitempty"`
	Subject     string    `json:"subject,omitempty"`
	Tags        []string  `json:"tags,omitempty"`
	Replays     int       `json:"replays"`
	Finished    int       `json:"finished"`
	FailedAgain int       `json:"failed_again,omitempty"` // finished replays with that outcome
	NotBefore   time.Time `json:"not_before"`
	// Open is the replay that runs now, or ran when an earlier Replay workflow was lost.
	Open      *ReplayRecord `json:"open,omitempty"`
	Last      *ReplayRecord `json:"last,omitempty"`
	Decisions []Decision    `json:"decisions,omitempty"` // the latest, for idempotency
	// Forgotten counts the decisions that were made and are no longer in Decisions.
	Forgotten int    `json:"forgotten,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Details   string `json:"details,omitempty"`
}

// maxDecisions bounds the memory for repeated requests; the store keeps all of them.
const maxDecisions = 1000

// Decided returns the earlier decision on a request. An id names a request among those of its kind.
func (p *Parked) Decided(kind RequestKind, requestID string) (Decision, bool) {
	for _, d := range p.Decisions {
		if d.Kind == kind && d.RequestID == requestID {
			return d, true
		}
	}
	return Decision{}, false
}

// NameRequest names a request that came without an id: the same content before the same number of finished replays is
// the same request. One that was refused may be asked again, and is then another: time or a deploy may have mended
// what was in the way.
func (p *Parked) NameRequest(kind RequestKind, raw []byte) string {
	if kind == RequestReconcile { // each failure leaves an unknown outcome of its own, also one that no replay began
		raw = append([]byte(p.Current.RunID+"\x00"), raw...)
	}
	for n := 0; ; n++ {
		name := derivedRequestID(kind, raw, p.Finished, n)
		earlier, decided := p.Decided(kind, name)
		if decided && earlier.Accepted {
			return name
		}
		if !decided && n >= p.Forgotten { // a lower number may be a refused request's, which the store would not replace
			return name
		}
	}
}

// Remember adds a decision and forgets the oldest.
func (p *Parked) Remember(d Decision) {
	p.Decisions = append(p.Decisions, d)
	if excess := len(p.Decisions) - maxDecisions; excess > 0 {
		p.Decisions = p.Decisions[excess:]
		p.Forgotten += excess
	}
}

// Fail takes in one more failure of the key. A new payload makes the builds that failed on the old one irrelevant.
func (p *Parked) Fail(d DeadLettered) {
	if d.PayloadRef == p.Current.PayloadRef {
		for _, v := range d.Versions {
			p.Current.Versions = addVersion(p.Current.Versions, v)
		}
		d.Versions = p.Current.Versions
	}
	p.Current = d
	p.State, p.Reconciled = StateDeadLettered, false
}

// RunQuery asks how the run of a replay stands.
type RunQuery struct {
	DeadLetterID DeadLetterID `json:"dead_letter_id"`
	ID           KeyID        `json:"id"`
	Replay       int          `json:"replay"`
}

// RunStatus answers a RunQuery. Failed is set when the replay's own run was dead-lettered; Version is the build that
// completed it, and empty where the server does not say.
type RunStatus struct {
	Running   bool          `json:"running,omitempty"`
	Completed bool          `json:"completed,omitempty"`
	Version   string        `json:"handler_version,omitempty"`
	Failed    *DeadLettered `json:"failed,omitempty"`
}
