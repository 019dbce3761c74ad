package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/job"
)

// handle decides one request, records the decision, and answers. A request id that was decided before gets the same
// answer and changes nothing.
func (r *replayRun) handle(in incoming) {
	request, complaint := job.ParseRequest(in.kind, in.raw)
	if request.RequestID == "" {
		request.RequestID = r.parked.NameRequest(in.kind, in.raw)
	}
	decision, repeated := r.parked.Decided(in.kind, request.RequestID)
	if !repeated {
		decision = job.Decision{Kind: in.kind, RequestID: request.RequestID, DeadLetterID: r.parked.DeadLetterID}
		if complaint != nil {
			decision.Refusal = &job.Refusal{Code: job.RefusedInvalidRequest, Detail: complaint.Error()}
		} else {
			r.decide(in.kind, request, &decision)
		}
		decision.Accepted = decision.Refusal == nil
		r.commit(in.kind, request, decision)
	}
	if in.answer != nil {
		in.answer.Set(decision, r.err)
	}
}

// decide sets a refusal, or leaves the decision accepted.
func (r *replayRun) decide(kind job.RequestKind, request job.Request, decision *job.Decision) {
	switch {
	case r.parked.State == "":
		decision.Refusal = &job.Refusal{Code: job.RefusedClosed, Detail: "there is no such dead letter"}
	case kind == job.RequestDiscard:
		decision.Refusal = r.parked.CheckDiscard()
	case kind == job.RequestReplay:
		decision.Refusal = r.checkReplay(request)
		if decision.Refusal == nil {
			decision.Replay = r.parked.Replays + 1
		}
	}
}

// checkReplay asks what the state forbids first, and the live handlers last.
func (r *replayRun) checkReplay(request job.Request) *job.Refusal {
	if r.canceled {
		return &job.Refusal{Code: job.RefusedClosed, Detail: "this Replay workflow is being canceled; ask again"}
	}
	r.refreshPolicy()
	if refusal := r.parked.CheckReplay(workflow.Now(r.ctx)); refusal != nil {
		return refusal
	}
	if refusal := r.parked.CheckVersion(request); refusal != nil {
		return refusal
	}
	return r.probe(r.parked.Rule(request))
}

// refreshPolicy takes over what may have changed while the dead letter was parked: the limits, and whether the payload
// opens. They come through an activity, since a branch may not depend on this worker's own policy set.
func (r *replayRun) refreshPolicy() {
	in := job.ReplayInput{DeadLetterID: r.parked.DeadLetterID, ID: r.parked.ID}
	var fresh job.Parked
	r.fail(workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivityLoadParked, in).Get(r.ctx, &fresh))
	if fresh.State != "" {
		r.parked.Policy, r.parked.PayloadGone = fresh.Policy, fresh.PayloadGone
	}
}

// commit records the decision and, for an accepted request, moves the state. The record comes first: what is not in
// the log did not happen.
func (r *replayRun) commit(kind job.RequestKind, request job.Request, decision job.Decision) {
	record := job.RequestRecord{
		DeadLetterID: r.parked.DeadLetterID,
		RequestID:    decision.RequestID,
		Kind:         kind,
		Actor:        request.Actor,
		Reason:       request.Reason,
		Text:         request.Text,
		Accepted:     decision.Accepted,
		Replay:       decision.Replay,
		Refusal:      decision.Refusal,
		At:           workflow.Now(r.ctx),
	}
	if decision.Accepted && kind == job.RequestDiscard {
		record.State = job.StateDiscarded
	}
	if decision.Accepted && kind == job.RequestReplay {
		record.State = job.StateReplaying
		r.open(request, decision)
	}
	if r.parked.State != "" {
		r.fail(workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivitySaveRequest, record).Get(r.ctx, nil))
	}
	r.parked.Remember(decision)
	switch {
	case !decision.Accepted || r.err != nil:
	case kind == job.RequestDiscard:
		r.parked.State = job.StateDiscarded
		r.fail(r.show())
	case kind == job.RequestReplay:
		r.begin(request)
	}
}

// fail keeps the first error that ends the workflow. Activities here are retried without end, so one is a bug or a
// payload that cannot be encoded.
func (r *replayRun) fail(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("replay of %s: %w", r.parked.DeadLetterID, err)
	}
}
