package workflows

import (
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// probeWindow is how long a build that may run the replay has to answer. Builds that may not hand the probe on.
const probeWindow = 4 * time.Second

// probe asks the lane's control queue for a live build that rule allows.
func (r *replayRun) probe(rule job.VersionRule) *job.Refusal {
	ctx := workflow.WithActivityOptions(r.ctx, workflow.ActivityOptions{
		TaskQueue:              r.parked.ID.Type.ControlQueue(),
		ScheduleToCloseTimeout: probeWindow,
		StartToCloseTimeout:    time.Second,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 1,
		},
		Priority: temporal.Priority{PriorityKey: priorityOperator},
	})
	err := workflow.ExecuteActivity(ctx, job.ActivityProbeHandler, rule).Get(ctx, nil)
	if err == nil {
		return nil
	}
	seen := wire.Decode(err).Report
	switch {
	case seen.HandedBack == "":
		return &job.Refusal{Code: job.RefusedNoLiveHandler, Detail: fmt.Sprintf(
			"no worker answers for %s; is one that polls %s running?", r.parked.ID.Type, r.parked.ID.Type.Lane())}
	case seen.HandedBack == job.HandedBackNoVault:
		return &job.Refusal{Code: job.RefusedNoLiveHandler, Detail: fmt.Sprintf(
			"version %s answers for %s but has no vault to open the payload with; give its worker Options.Payloads",
			seen.Version, r.parked.ID.Type)}
	case rule.Only != "":
		return &job.Refusal{Code: job.RefusedNoLiveHandler, Detail: fmt.Sprintf(
			"no worker of version %s answers; version %s does", rule.Only, seen.Version)}
	default:
		return &job.Refusal{Code: job.RefusedVersionUnchanged, Detail: fmt.Sprintf(
			"%s needs a repair, and only version %s answers; failed so far: %s (deploy a repaired handler under another version, or force with a reason)",
			r.parked.Current.Class, seen.Version, strings.Join(rule.Not, ", "))}
	}
}

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
	r.selector.AddFuture(r.start(request, record), func(f workflow.Future) {
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
		r.conclude(record, job.OutcomeResolved, "the job completed", nil)
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
		r.parked.NotBefore = workflow.Now(r.ctx).Add(r.parked.Policy.Wait(record.Number))
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
		status, err := r.describe(r.ctx, record)
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

// describe takes the context of the coroutine that waits.
func (r *replayRun) describe(ctx workflow.Context, record job.ReplayRecord) (job.RunStatus, error) {
	var status job.RunStatus
	err := workflow.ExecuteActivity(storeOptions(ctx), job.ActivityDescribeJob, job.RunQuery{
		DeadLetterID: r.parked.DeadLetterID, ID: r.parked.ID, Replay: record.Number,
	}).Get(ctx, &status)
	return status, err
}

// followWait is how often the run of a lost Replay is looked at.
const followWait = 5 * time.Second

// follow waits for a replay that an earlier Replay workflow had begun before it was lost.
func (r *replayRun) follow(record job.ReplayRecord) {
	future, done := workflow.NewFuture(r.ctx)
	workflow.Go(r.ctx, func(ctx workflow.Context) {
		for {
			status, err := r.describe(ctx, record)
			if err != nil || !status.Running {
				done.Set(status, err)
				return
			}
			if err := workflow.Sleep(ctx, followWait); err != nil {
				done.SetError(err)
				return
			}
		}
	})
	r.selector.AddFuture(future, func(f workflow.Future) {
		var status job.RunStatus
		if err := f.Get(r.ctx, &status); err != nil {
			r.fail(err)
			return
		}
		switch {
		case status.Completed:
			r.conclude(record, job.OutcomeResolved, "the job completed", nil)
		case status.Failed != nil:
			r.conclude(record, job.OutcomeFailedAgain, "the run was dead-lettered", status.Failed)
		default:
			r.conclude(record, job.OutcomeCanceled, "the run ended without a verdict, or never began", nil)
		}
	})
}
