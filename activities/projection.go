package activities

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/redrivehq/redrive/internal/history"
	"github.com/redrivehq/redrive/job"
)

// SaveRequest records an operator's request and the decision on it.
func (d *DeadLetters) SaveRequest(ctx context.Context, r job.RequestRecord) error {
	return d.options.Store.SaveRequest(ctx, r)
}

// SaveReplay records a replay, when it begins and when it has an outcome.
func (d *DeadLetters) SaveReplay(ctx context.Context, r job.ReplayRecord) error {
	return d.options.Store.SaveReplay(ctx, r)
}

// LoadParked returns the working state of a Replay from the projection. An unknown dead letter has no state.
func (d *DeadLetters) LoadParked(ctx context.Context, in job.ReplayInput) (job.Parked, error) {
	parked := job.Parked{DeadLetterID: in.DeadLetterID, ID: in.ID}
	letter, err := d.options.Store.DeadLetter(ctx, in.DeadLetterID)
	if errors.Is(err, job.ErrNotFound) {
		return parked, nil
	}
	if err != nil {
		return parked, err
	}
	if letter.KeyID != in.ID || d.options.Namespace != "" && letter.Namespace != d.options.Namespace {
		return parked, nil // an id and a key that do not belong together, or another namespace's letter in a shared store
	}
	parked.State, parked.Current, parked.Replays = letter.State, current(letter), letter.Replays
	parked.Policy = d.options.Policies.For(in.ID.Type).Replay
	parked.Subject, parked.Tags = letter.Subject, letter.Tags
	if letter.NotBefore != nil {
		parked.NotBefore = *letter.NotBefore
	}
	parked.Current.Versions = failedVersions(letter)
	for i := range letter.History {
		record := letter.History[i]
		if record.FinishedAt == nil {
			parked.Open = &record
			continue
		}
		parked.Finished++
		parked.Last = &record
		if record.Outcome == job.OutcomeFailedAgain {
			parked.FailedAgain++
		}
	}
	for _, r := range letter.Requests {
		parked.Remember(job.Decision{
			Kind: r.Kind, RequestID: r.RequestID, DeadLetterID: in.DeadLetterID, Accepted: r.Accepted, Replay: r.Replay, Refusal: r.Refusal,
		})
	}
	if err := d.standing(ctx, &letter); err != nil {
		return parked, err
	}
	parked.Unsettled, parked.Reconciled = job.UnsettledEffects(letter.Effects), letter.Reconciled()
	parked.Summary, parked.Details = page(letter)
	parked.PayloadGone = d.payloadGone(ctx, letter)
	return parked, nil
}

// payloadGone looks again for a payload that was not there when the job ran last, or that somebody erased since. Whatever
// keeps it from opening now is a reason to refuse now; the next request looks again.
func (d *DeadLetters) payloadGone(ctx context.Context, letter job.DeadLetter) bool {
	missing := letter.Class.Need() == job.NeedPayload || letter.Erased != nil
	if !missing || letter.PayloadRef == "" {
		return false
	}
	_, err := d.options.Vault.Open(ctx, letter.PayloadRef, letter.KeyID)
	return err != nil
}

// failedVersions are the builds that failed on the current payload, over the whole lineage.
func failedVersions(letter job.DeadLetter) []string {
	var seen job.Parked
	for _, f := range letter.Failures {
		seen.Fail(job.DeadLettered{PayloadRef: f.PayloadRef, Versions: f.Log.Versions})
	}
	return seen.Current.Versions
}

// DescribeJob tells how the run of a replay stands. Temporal is asked, not visibility: it is the truth.
func (d *DeadLetters) DescribeJob(ctx context.Context, q job.RunQuery) (job.RunStatus, error) {
	description, err := d.options.Client.DescribeWorkflow(ctx, q.ID.JobWorkflowID(), "")
	var gone *serviceerror.NotFound
	if err != nil && !errors.As(err, &gone) {
		return job.RunStatus{}, fmt.Errorf("describe %s: %w", q.ID.JobWorkflowID(), err)
	}
	if err == nil {
		switch description.Status {
		case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			return job.RunStatus{Running: true}, nil
		case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
			version, err := history.Version(ctx, d.options.Client, q.ID.JobWorkflowID(), description.WorkflowExecution.RunID)
			return job.RunStatus{Completed: true, Version: version}, err
		}
	}
	letter, err := d.options.Store.DeadLetter(ctx, q.DeadLetterID)
	if err != nil {
		return job.RunStatus{}, err
	}
	for _, f := range letter.Failures {
		if f.Replay == q.Replay && q.Replay > 0 {
			failed := current(job.DeadLetter{ID: letter.ID, FailureRecord: f})
			return job.RunStatus{Failed: &failed}, nil
		}
	}
	return job.RunStatus{}, nil
}
