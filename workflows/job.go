package workflows

import (
	"encoding/json"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// Job is one unit of work from start to result or dead letter. It takes a raw value and parses the envelope itself:
// input that does not fit would otherwise die in the SDK's decoder, without a record. It returns what the handler
// returned, a CanceledError, or the error type DeadLettered.
func (w *Workflows) Job(ctx workflow.Context, raw converter.RawValue) (json.RawMessage, error) {
	run := newJobRun(ctx, w.policies, raw)
	if run.unopened != "" {
		w.observe(ctx, run.id.Type, job.PrivacyInputRefused)
	}
	return run.run(ctx)
}

// jobRun is one run of Job.
type jobRun struct {
	id       job.KeyID
	envelope job.Envelope
	policy   job.Policy
	// complaint says why the envelope cannot be worked on; unparsed that it could not even be read.
	complaint error
	unparsed  bool
	// unopened says why the input, which is ciphertext, does not open for this job.
	unopened string
	// plain says that the payload came unencrypted. Whether that matters is the runner's to say.
	plain bool
}

func newJobRun(ctx workflow.Context, policies job.Policies, raw converter.RawValue) *jobRun {
	info := workflow.GetInfo(ctx)
	run := &jobRun{unopened: string(raw.Payload().GetMetadata()[job.MetadataUnopened])}
	named, nameErr := job.ParseJobWorkflowID(info.WorkflowExecution.ID)
	if run.unopened != "" {
		run.complaint = errors.New("the input is encrypted and does not open for this job: " + run.unopened)
	} else {
		run.envelope, run.complaint = job.ParseEnvelope(inputBytes(raw))
	}
	_, decrypted := raw.Payload().GetMetadata()[job.MetadataDecrypted]
	run.plain = !decrypted && len(run.envelope.Payload) > 0
	if run.complaint != nil {
		run.unparsed, run.envelope = true, job.Envelope{} // nothing of what was half read is used
	}
	run.id = named
	switch {
	case nameErr != nil:
		run.id, run.complaint = job.StrayID(info.WorkflowExecution.ID), nameErr
	case run.complaint == nil && run.envelope.ID() != named:
		run.complaint = errors.New("type and key of the envelope do not match the workflow ID job:<type>:<key>")
	}
	// Anybody can write the field; only the key's own Replay makes it true.
	parent := info.ParentWorkflowExecution
	if parent == nil || parent.ID != run.id.ReplayWorkflowID() {
		run.envelope.Replay = nil
	}
	run.policy = policies.For(run.id.Type)
	return run
}

func (j *jobRun) run(ctx workflow.Context) (json.RawMessage, error) {
	if j.unopened == job.UnopenedKeyDestroyed {
		return nil, j.deadLetter(ctx, job.Failure{
			Class: job.ClassPayloadUnavailable, Message: j.complaint.Error(), Report: job.Report{Cause: job.CausePayloadUnavailable},
		}, false)
	}
	if j.complaint != nil {
		return nil, j.deadLetter(ctx, job.Failure{
			Class: job.ClassInvalidPayload, Message: j.complaint.Error(), Report: job.Report{Cause: job.CausePoison},
		}, false)
	}
	deadline := j.deadline(ctx)
	if !deadline.After(workflow.Now(ctx)) {
		return nil, j.deadLetter(ctx, job.Failure{
			Class: job.ClassTimeout, Message: "the deadline had passed when the job started",
			Report: job.Report{Cause: job.CauseDeadlinePassed},
		}, false)
	}
	result, err := j.handle(ctx, deadline)
	if err == nil {
		return result, nil
	}
	if temporal.IsCanceledError(err) {
		return nil, temporal.NewCanceledError()
	}
	failure := wire.Decode(err)
	if ctx.Err() != nil && !failure.Class.Final() {
		return nil, temporal.NewCanceledError() // a final verdict, such as an unknown outcome, is not thrown away by a cancel
	}
	return nil, j.deadLetter(ctx, failure, !wire.Started(err))
}

func (j *jobRun) deadline(ctx workflow.Context) time.Time {
	if j.envelope.Deadline != nil {
		return *j.envelope.Deadline
	}
	return workflow.Now(ctx).Add(j.policy.Deadline) // not from the start event: that is before a delay
}

// handle runs the handler on its lane until a verdict is final. MaximumAttempts is only a distant safety net: Temporal
// counts lost workers, drains and throttles too, so the runner keeps the counted cap.
func (j *jobRun) handle(ctx workflow.Context, deadline time.Time) (json.RawMessage, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              j.id.Type.Lane(),
		HeartbeatTimeout:       j.policy.Lease,
		StartToCloseTimeout:    j.policy.Timeout + j.policy.Lease, // the runner ends an attempt at Timeout itself
		ScheduleToCloseTimeout: deadline.Sub(workflow.Now(ctx)),
		WaitForCancellation:    true,
		Priority:               j.priority(ctx),
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:        j.policy.Backoff.Base,
			BackoffCoefficient:     2,
			MaximumInterval:        j.policy.Backoff.Cap,
			MaximumAttempts:        safetyAttempts,
			NonRetryableErrorTypes: nonRetryable(),
		},
	})
	var result json.RawMessage
	err := workflow.ExecuteActivity(ctx, string(j.id.Type), job.Assignment{
		Envelope: j.envelope,
		Limits:   j.policy.LimitsUntil(workflow.Now(ctx), deadline),
		Plain:    j.plain,
	}).Get(ctx, &result)
	return result, err
}

// priority is the one the job was enqueued with, else the policy's.
func (j *jobRun) priority(ctx workflow.Context) temporal.Priority {
	given := workflow.GetInfo(ctx).Priority
	if given.PriorityKey == 0 {
		given.PriorityKey = j.policy.Priority
	}
	return given
}

const safetyAttempts = 100_000

func nonRetryable() []string {
	types := []string{"payloadSizeError"} // the SDK's own type for a result above the blob limit
	for _, class := range job.FinalClasses() {
		types = append(types, string(class))
	}
	return types
}

// deadLetter is the compensation: record, then park, then fail. It runs on a disconnected context, since a cancel that
// arrives now must not lose the job.
func (j *jobRun) deadLetter(ctx workflow.Context, f job.Failure, neverStarted bool) error {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	if err := upsertFailure(ctx, j.id.Type, job.StateDeadLettered, f.Class, f.Report); err != nil {
		return err
	}
	workflow.SetCurrentDetails(ctx, "The job stopped ("+string(f.Class)+"). Its dead letter is being written; "+
		"if this stays, the dead-letter store cannot be reached.")
	death, err := j.record(ctx, f, neverStarted)
	if err != nil {
		return err
	}
	workflow.SetCurrentDetails(ctx, death.Details)
	if err := j.park(ctx, death); err != nil {
		return err
	}
	return wire.EncodeDeadLettered(death.DeadLettered)
}

func (j *jobRun) record(ctx workflow.Context, f job.Failure, neverStarted bool) (job.Death, error) {
	info := workflow.GetInfo(ctx)
	var death job.Death
	err := workflow.ExecuteActivity(storeOptions(ctx), job.ActivityRecordDeath, job.DeathNotice{
		Namespace:     info.Namespace,
		ID:            j.id,
		WorkflowID:    info.WorkflowExecution.ID,
		RunID:         info.WorkflowExecution.RunID,
		StoppedAt:     workflow.Now(ctx),
		SchemaVersion: max(j.envelope.SchemaVersion, 1),
		Subject:       j.envelope.Subject,
		Tags:          j.envelope.Tags,
		PayloadRef:    j.envelope.PayloadRef,
		Unparsed:      j.unparsed,
		Replay:        j.envelope.Replay,
		Class:         f.Class,
		Cause:         f.Report.Cause,
		Message:       f.Message,
		Report:        f.Report,
		NeverStarted:  neverStarted,
	}).Get(ctx, &death)
	return death, err
}

// The wait between two tries to park; it doubles, since every try stays in the run's history.
const (
	parkFirst = time.Second
	parkMax   = 5 * time.Minute
)

// park makes sure that a Replay is open for the key. An open one is success: it is told of the new failure, unless it
// is this run's parent, which gets the error as its child's result.
func (j *jobRun) park(ctx workflow.Context, death job.Death) error {
	for wait := parkFirst; ; wait = min(2*wait, parkMax) {
		started := workflow.ExecuteChildWorkflow(
			workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
				WorkflowID:            j.id.ReplayWorkflowID(),
				TaskQueue:             job.QueueWorkflows,
				ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
				WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
				StaticSummary:         death.Summary,
				StaticDetails:         death.Details,
				TypedSearchAttributes: failureAttributes(j.id.Type, job.StateDeadLettered, death.DeadLettered),
				Priority:              temporal.Priority{PriorityKey: priorityOperator},
			}),
			job.WorkflowReplay,
			job.ReplayInput{DeadLetterID: death.DeadLetterID, ID: j.id},
		).GetChildWorkflowExecution().Get(ctx, nil)
		if started == nil {
			return nil
		}
		var open *temporal.ChildWorkflowExecutionAlreadyStartedError
		if errors.As(started, &open) {
			if j.envelope.Replay != nil {
				return nil
			}
			told := workflow.SignalExternalWorkflow(ctx, j.id.ReplayWorkflowID(), "", job.SignalFailed, death.DeadLettered).Get(ctx, nil)
			if told == nil {
				return nil
			}
		}
		// It closed between the two calls, or the server would not start it now: neither may close this run.
		if err := workflow.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
