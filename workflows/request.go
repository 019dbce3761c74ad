package workflows

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/job"
)

// handle decides one request, records the decision, and answers. A request id that was decided before gets the same
// answer and changes nothing.
func (r *replayRun) handle(in incoming) {
	if in.sealed {
		in = r.unseal(in)
	}
	request, complaint := job.ParseRequest(in.kind, in.raw)
	if in.refusal != "" {
		request, complaint = job.Request{}, errors.New(in.refusal)
		r.refused()
	}
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
	case kind == job.RequestReconcile:
		decision.Refusal = r.settle(request)
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
	r.refresh()
	if refusal := r.parked.CheckReplay(workflow.Now(r.ctx)); refusal != nil {
		return refusal
	}
	if refusal := r.parked.CheckVersion(request); refusal != nil {
		return refusal
	}
	return r.probe(r.parked.Rule(request))
}

// settle writes an operator's word on an effect into the ledger, or refuses it. The fence is found first and recorded: a
// repetition of the write, however late, then settles the claim that the operator meant or none. The word goes in before
// the request's own record, since the ledger may refuse it; a repetition of the request changes nothing in the ledger.
func (r *replayRun) settle(request job.Request) *job.Refusal {
	if refusal := r.parked.CheckReconcile(); refusal != nil {
		return refusal
	}
	r.refresh()
	effect := job.EffectID{Namespace: workflow.GetInfo(r.ctx).Namespace, Job: r.parked.ID, Name: request.Effect}
	var known *job.EffectStanding
	r.fail(workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivityFindEffect, effect).Get(r.ctx, &known))
	refusal := r.parked.CheckSettlement(request, known)
	if refusal == nil && known != nil && r.err == nil {
		settlement := request.Settlement(effect, *known)
		r.fail(workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivitySettleEffect, settlement).Get(r.ctx, &refusal))
		r.refresh() // whoever reads the decision sees what is left
	}
	if r.err != nil {
		return &job.Refusal{Code: job.RefusedClosed, Detail: "this Replay workflow could not ask the ledger and ends; ask again"}
	}
	return refusal
}

// refresh takes over what may have changed while the dead letter was parked: the limits, whether the payload opens, and
// which effects are settled. They come through an activity, since a branch may not depend on this worker's own policy set.
func (r *replayRun) refresh() {
	in := job.ReplayInput{DeadLetterID: r.parked.DeadLetterID, ID: r.parked.ID}
	var fresh job.Parked
	r.fail(workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivityLoadParked, in).Get(r.ctx, &fresh))
	if fresh.State != "" {
		r.parked.Policy, r.parked.PayloadGone, r.parked.Unsettled = fresh.Policy, fresh.PayloadGone, fresh.Unsettled
		r.parked.Summary, r.parked.Details = fresh.Summary, fresh.Details
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
		Effect:       request.Effect,
		Happened:     request.Happened,
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
	case kind == job.RequestReconcile:
		r.parked.Reconciled = true
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
