package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// RequestKind is what an operator asks of a dead letter; it is also the name of the signal and update.
type RequestKind string

// The kinds of request.
const (
	RequestReplay    RequestKind = "replay"
	RequestDiscard   RequestKind = "discard"
	RequestAnnotate  RequestKind = "annotate"
	RequestReconcile RequestKind = "reconcile"
)

// AllRequestKinds returns every kind.
func AllRequestKinds() []RequestKind {
	return []RequestKind{RequestReplay, RequestDiscard, RequestAnnotate, RequestReconcile}
}

// Request is what an operator sends, as plain JSON, by signal or update.
type Request struct {
	RequestID string `json:"request_id,omitempty"`
	Actor     string `json:"actor"`
	Reason    string `json:"reason,omitempty"`
	Text      string `json:"text,omitempty"`          // annotate only
	Defect    string `json:"defect,omitempty"`        // replay: what was wrong, for the record
	Fixed     string `json:"fixed_version,omitempty"` // replay: the only version that may run it
	Force     bool   `json:"force,omitempty"`         // replay: run although nothing was repaired
	Effect    string `json:"effect,omitempty"`        // reconcile: the name that the handler gave it
	// Happened is the word of reconcile. It has no default: a field that was forgotten must not free an effect.
	Happened *bool           `json:"happened,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // reconcile: what later callers of an effect that happened get
}

// Limits of a request's fields, in bytes.
const (
	MaxActorBytes  = 128
	MaxReasonBytes = 2048
	MaxNameBytes   = 128
)

// Validate names the first field that is missing or too long for a request of kind, or a kind that does not exist.
func (r Request) Validate(kind RequestKind) error {
	if !slices.Contains(AllRequestKinds(), kind) {
		return fmt.Errorf("request kind %q, allowed are %q", string(kind), AllRequestKinds())
	}
	required := []struct{ name, value string }{{"actor", r.Actor}, {"reason", r.Reason}}
	if kind == RequestAnnotate {
		required[1].name, required[1].value = "text", r.Text
	}
	for _, field := range required {
		if strings.TrimSpace(field.value) == "" {
			return fmt.Errorf("%s needs %q", kind, field.name)
		}
	}
	bounded := []struct {
		name, value string
		limit       int
	}{
		{"request_id", r.RequestID, MaxNameBytes},
		{"actor", r.Actor, MaxActorBytes},
		{"reason", r.Reason, MaxReasonBytes},
		{"text", r.Text, MaxReasonBytes},
		{"defect", r.Defect, MaxReasonBytes},
		{"fixed_version", r.Fixed, MaxNameBytes},
	}
	for _, field := range bounded {
		if len(field.value) > field.limit {
			return fmt.Errorf("%q is %d bytes, at most %d are allowed", field.name, len(field.value), field.limit)
		}
	}
	if kind == RequestReconcile {
		return r.validateReconcile()
	}
	return nil
}

// ParseRequest reads a request. A malformed one comes back as far as it could be read, with an error that says what is
// wrong and quotes nothing.
func ParseRequest(kind RequestKind, raw []byte) (Request, error) {
	var r Request
	if len(raw) == 0 {
		return r, fmt.Errorf("%s came without input, a JSON object is needed", kind)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r.clipped(), fmt.Errorf("%s: %s", kind, jsonComplaint(err))
	}
	if err := r.Validate(kind); err != nil {
		return r.clipped(), err
	}
	return r, nil
}

// clipped bounds every field, so that a refused request can be recorded.
func (r Request) clipped() Request {
	cut := func(s string, limit int) string { return strings.ToValidUTF8(s[:min(len(s), limit)], "") }
	r.RequestID, r.Fixed = cut(r.RequestID, MaxNameBytes), cut(r.Fixed, MaxNameBytes)
	r.Actor, r.Reason = cut(r.Actor, MaxActorBytes), cut(r.Reason, MaxReasonBytes)
	r.Text, r.Defect = cut(r.Text, MaxReasonBytes), cut(r.Defect, MaxReasonBytes)
	r.Effect, r.Result = cut(r.Effect, MaxEffectNameBytes), nil
	return r
}

// derivedRequestID is a name for a request by content, so that a command pasted twice acts once, and again after an
// outcome.
func derivedRequestID(kind RequestKind, raw []byte, finished, refused int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s", kind, finished, refused, raw))
	return "auto-" + hex.EncodeToString(sum[:8])
}

// RefusalCode says why a request was not carried out.
type RefusalCode string

// The refusal codes.
const (
	RefusedNoLiveHandler      RefusalCode = "no_live_handler"
	RefusedVersionUnchanged   RefusalCode = "version_unchanged"
	RefusedReplayLimit        RefusalCode = "replay_limit"
	RefusedAlreadyReplaying   RefusalCode = "already_replaying"
	RefusedAlreadyResolved    RefusalCode = "already_resolved"
	RefusedClosed             RefusalCode = "closed"
	RefusedTooEarly           RefusalCode = "too_early"
	RefusedPayloadUnavailable RefusalCode = "payload_unavailable"
	RefusedNeedsReconcile     RefusalCode = "needs_reconcile"
	RefusedNotSigned          RefusalCode = "not_signed"
	RefusedInvalidRequest     RefusalCode = "invalid_request"
)

// AllRefusalCodes returns every code.
func AllRefusalCodes() []RefusalCode {
	return []RefusalCode{
		RefusedNoLiveHandler, RefusedVersionUnchanged, RefusedReplayLimit, RefusedAlreadyReplaying, RefusedAlreadyResolved,
		RefusedClosed, RefusedTooEarly, RefusedPayloadUnavailable, RefusedNeedsReconcile, RefusedNotSigned, RefusedInvalidRequest,
	}
}

// Refusal is a code and a sentence for the operator.
type Refusal struct {
	Code   RefusalCode `json:"code"`
	Detail string      `json:"detail"`
}

// Outcome is how a replay ended.
type Outcome string

// The replay outcomes.
const (
	OutcomeResolved    Outcome = "resolved"
	OutcomeFailedAgain Outcome = "failed_again"
	OutcomeRefused     Outcome = "refused"
	OutcomeCanceled    Outcome = "canceled"
)

// AllOutcomes returns every outcome.
func AllOutcomes() []Outcome {
	return []Outcome{OutcomeResolved, OutcomeFailedAgain, OutcomeRefused, OutcomeCanceled}
}

// VersionRule says which handler builds may run an attempt. Old and new builds poll one lane during a rollout, so the
// runner that got the work checks it; the probe before could have been answered by another build.
type VersionRule struct {
	Not  []string `json:"not_version,omitempty"`
	Only string   `json:"only_version,omitempty"`
}

// Allows tells whether a build of version may run.
func (r VersionRule) Allows(version string) bool {
	if r.Only != "" {
		return version == r.Only
	}
	for _, refused := range r.Not { // as attempt logs name them
		if logName(version) == logName(refused) {
			return false
		}
	}
	return true
}

// ReplayRun marks a run of Job as a replay of a dead letter.
type ReplayRun struct {
	DeadLetterID DeadLetterID `json:"dead_letter_id"`
	Number       int          `json:"number"` // from 1
	RequestID    string       `json:"request_id"`
	Actor        string       `json:"actor"`
	Rule         VersionRule  `json:"rule"`
	// OriginalRunID is the run whose input holds the payload, for comparing a later enqueue with it.
	OriginalRunID string `json:"original_run_id,omitempty"`
}

// Decision answers a request.
type Decision struct {
	Kind         RequestKind  `json:"kind"`
	RequestID    string       `json:"request_id"`
	DeadLetterID DeadLetterID `json:"dead_letter_id"`
	Accepted     bool         `json:"accepted"`
	Replay       int          `json:"replay,omitempty"` // the number of the accepted replay
	Refusal      *Refusal     `json:"refusal,omitempty"`
}

// Wait returns the minimum wait after the n-th replay that failed again (from 1): it doubles up to MaxWait.
func (p ReplayPolicy) Wait(n int) time.Duration {
	wait := p.MinWait
	for i := 1; i < n; i++ {
		if wait > p.MaxWait/2 { // doubling could overflow
			return p.MaxWait
		}
		wait *= 2
	}
	return min(wait, p.MaxWait)
}
