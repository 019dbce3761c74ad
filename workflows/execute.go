package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// open records that a replay begins. It comes before the request's own record: an accepted request whose replay is not
// in the store would be answered as accepted for ever, and nothing would run.
func (r *replayRun) open(request job.Request, decision job.Decision) {
	record := job.ReplayRecord{
		DeadLetterID: r.parked.DeadLetterID,
		Number:       decision.Replay,
		RequestID:    decision.RequestID,
		Actor:        request.Actor,
		Reason:       request.Reason,
		Defect:       request.Defect,
		Fixed:        request.Fixed,
		Forced:       request.Force,
		StartedAt:    workflow.Now(r.ctx),
		State:        job.StateReplaying,
	}
	r.fail(workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivitySaveReplay, record).Get(r.ctx, nil))
	r.parked.Replays, r.parked.Open, r.parked.State = record.Number, &record, job.StateReplaying
}

// begin runs the job again under its workflow ID and key, as this workflow's child. It is abandoned, not canceled, if
// this workflow ends: whoever continues finds the open replay in the store and follows it.
func (r *replayRun) begin(request job.Request) {
	record := *r.parked.Open
	r.fail(r.show())
	if r.err != nil {
		return
	}
	run := r.start(request, record)
	r.selector.AddFuture(run.GetChildWorkflowExecution(), func(f workflow.Future) {
		r.findable = f.Get(r.ctx, nil) == nil
	})
	r.selector.AddFuture(run, func(f workflow.Future) {
		r.finish(record, f.Get(r.ctx, nil))
	})
}

func (r *replayRun) start(request job.Request, record job.ReplayRecord) workflow.ChildWorkflowFuture {
	ctx := workflow.WithChildOptions(r.ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            r.parked.ID.JobWorkflowID(),
		TaskQueue:             job.QueueWorkflows,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(job.AttrJobType).ValueSet(string(r.parked.ID.Type))),
		Priority: temporal.Priority{PriorityKey: priorityReplay},
	})
	return workflow.ExecuteChildWorkflow(ctx, job.WorkflowJob, job.Envelope{
		Type:          r.parked.ID.Type,
		Key:           r.parked.ID.Key,
		SchemaVersion: max(r.parked.Current.SchemaVersion, 1),
		PayloadRef:    r.parked.Current.PayloadRef,
		Subject:       r.parked.Subject,
		Tags:          r.parked.Tags,
		Replay: &job.ReplayRun{
			DeadLetterID:  r.parked.DeadLetterID,
			Number:        record.Number,
			RequestID:     record.RequestID,
			Actor:         record.Actor,
			Rule:          r.parked.Rule(request),
			OriginalRunID: r.parked.Current.RunID,
		},
	})
}

// finish reads how the run ended and records the outcome apart from the original failure.
func (r *replayRun) finish(record job.ReplayRecord, err error) {
	wire.CheckReadable(err)
	var open *temporal.ChildWorkflowExecutionAlreadyStartedError
	dead, isDead := wire.DecodeDeadLettered(err)
	switch {
	case err == nil:
		status, err := r.describe(record) // which build it was
		r.fail(err)
		r.conclude(record, job.OutcomeResolved, completed(status), nil)
	case isDead:
		r.conclude(record, job.OutcomeFailedAgain, fmt.Sprintf("%s: %s after %d counted attempts", dead.Cause, dead.Class, dead.Attempts), &dead)
	case errors.As(err, &open):
		r.collide(record)
	case temporal.IsCanceledError(err):
		r.conclude(record, job.OutcomeCanceled, "the run was canceled", nil)
	case temporal.IsTerminatedError(err):
		r.conclude(record, job.OutcomeCanceled, "the run was terminated", nil)
	default:
		r.conclude(record, job.OutcomeFailedAgain, "the run ended without a verdict", nil)
	}
}

// conclude moves the state after a replay. One that failed again waits longer each time.
func (r *replayRun) conclude(record job.ReplayRecord, outcome job.Outcome, detail string, dead *job.DeadLettered) {
	record.Outcome, record.Detail = outcome, detail
	record.State = job.StateDeadLettered
	if outcome == job.OutcomeResolved {
		record.State = job.StateResolved
	}
	if outcome == job.OutcomeFailedAgain {
		r.parked.FailedAgain++
		r.parked.NotBefore = workflow.Now(r.ctx).Add(r.parked.Policy.Wait(r.parked.FailedAgain))
		record.NotBefore = &r.parked.NotBefore
	}
	if dead != nil {
		r.parked.Fail(*dead)
	}
	r.close(record)
}

// close records the end of a replay.
func (r *replayRun) close(record job.ReplayRecord) {
	now := workflow.Now(r.ctx)
	record.FinishedAt = &now
	r.parked.Finished++
	r.findable = false
	r.parked.State, r.parked.Open, r.parked.Last = record.State, nil, &record
	r.fail(workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivitySaveReplay, record).Get(r.ctx, nil))
	if r.stale {
		r.fail(r.load())
		return
	}
	if r.parked.Current.Class.Need() == job.NeedReconcile { // show which effects the replay left unsettled
		r.refresh()
	}
	r.fail(r.show())
}

// collisionWait and collisionTries bound the wait for a run of the key that somebody else started.
const (
	collisionWait  = 2 * time.Second
	collisionTries = 5
)

// collide settles a replay whose workflow ID was taken by a run that a producer started.
func (r *replayRun) collide(record job.ReplayRecord) {
	for try := 0; try < collisionTries; try++ {
		status, err := r.describe(record)
		if err != nil {
			r.fail(err)
			return
		}
		switch {
		case status.Completed:
			record.State = job.StateResolved
			r.refuse(record, job.RefusedAlreadyResolved, "the key completed in a run that a producer started")
			return
		case !status.Running:
			r.refuse(record, job.RefusedAlreadyReplaying, "another run of the key took its place and ended; ask again")
			return
		}
		r.fail(workflow.Sleep(r.ctx, collisionWait))
	}
	r.refuse(record, job.RefusedAlreadyReplaying, "another run of the key is running")
}

func (r *replayRun) refuse(record job.ReplayRecord, code job.RefusalCode, detail string) {
	if record.State != job.StateResolved {
		record.State = job.StateDeadLettered
	}
	record.Outcome, record.Detail = job.OutcomeRefused, string(code)+": "+detail
	r.close(record)
}

// describe asks how the run of a replay stands.
func (r *replayRun) describe(record job.ReplayRecord) (job.RunStatus, error) {
	var status job.RunStatus
	err := workflow.ExecuteActivity(storeOptions(r.ctx), job.ActivityDescribeJob, job.RunQuery{
		DeadLetterID: r.parked.DeadLetterID, ID: r.parked.ID, Replay: record.Number,
	}).Get(r.ctx, &status)
	return status, err
}

// How often the run of a lost Replay is looked at: the wait doubles, so that an outcome is noticed after no more than twice
// the time it took, and at the latest after followMax.
const (
	followFirst = 5 * time.Second
	followMax   = 5 * time.Minute
)

// follow waits for a replay that an earlier Replay workflow, or an earlier run of this one, had begun.
func (r *replayRun) follow(record job.ReplayRecord) {
	r.findable = true
	now, ready := workflow.NewFuture(r.ctx)
	ready.Set(nil, nil)
	r.lookWhen(now, record, followFirst)
}

func (r *replayRun) lookWhen(due workflow.Future, record job.ReplayRecord, wait time.Duration) {
	r.selector.AddFuture(due, func(workflow.Future) {
		if r.parked.Open == nil || r.parked.Open.Number != record.Number {
			return // it was settled meanwhile
		}
		status, err := r.describe(record)
		switch {
		case err != nil:
			r.fail(err)
		case status.Running:
			r.lookWhen(workflow.NewTimer(r.ctx, wait), record, min(2*wait, followMax))
		case status.Completed:
			r.conclude(record, job.OutcomeResolved, completed(status), nil)
		case status.Failed != nil:
			r.conclude(record, job.OutcomeFailedAgain, "the run was dead-lettered", status.Failed)
		default:
			r.conclude(record, job.OutcomeCanceled, "the run ended without a verdict, or never began", nil)
		}
	})
}

// completed names the build that resolved a dead letter, as far as it is known.
func completed(status job.RunStatus) string {
	if status.Version == "" {
		return "the job completed"
	}
	return "the job completed on handler version " + status.Version
}
