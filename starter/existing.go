package starter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/internal/history"
	"github.com/redrivehq/redrive/job"
)

// ConflictError is the refusal to start a key that is known with another payload. Existing is the job that has it.
type ConflictError struct {
	Existing Enqueued
}

// Error names the key and the state of the job that has it; it quotes neither payload.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("job %s exists (%s) with a different payload; use another key, or the payload it was enqueued with",
		e.Existing.ID, e.Existing.State)
}

// ErrUnrecorded is wrapped when the run of a key was terminated, or timed out by a limit that somebody set: that runs no
// code of redrive's, so there is no dead letter, and no state of the job's to tell.
var ErrUnrecorded = errors.New("its run was ended from outside and left no dead letter")

// existing describes the run that has the key, and compares payloads.
func (c *Client) existing(ctx context.Context, e job.Envelope, runID string) (Enqueued, error) {
	found := Enqueued{ID: e.ID(), WorkflowID: e.ID().JobWorkflowID(), RunID: runID, Duplicate: true}
	var err error
	found.State, err = c.State(ctx, e.ID())
	if errors.Is(err, ErrUnrecorded) {
		found.Warning = err.Error()
	} else if err != nil {
		return found, err
	}
	same, err := c.samePayload(ctx, e, runID)
	if err != nil {
		return found, fmt.Errorf("compare %s with the job that has its key: %w", e.ID(), err)
	}
	if !same {
		return found, &ConflictError{Existing: found}
	}
	return found, nil
}

// samePayload compares with the input of the run that has the key. A replay's run holds a reference; the run whose
// failure it replays holds the payload. When that history is gone, nothing is left to contradict.
func (c *Client) samePayload(ctx context.Context, e job.Envelope, runID string) (bool, error) {
	for range job.MaxReplays { // the longest chain of runs back to the one with the payload
		started, err := history.Start(ctx, c.temporal, e.ID().JobWorkflowID(), runID)
		var gone *serviceerror.NotFound
		if errors.As(err, &gone) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		input, err := history.Input(started, c.options.DataConverter, converter.WorkflowSerializationContext{WorkflowID: e.ID().JobWorkflowID()})
		if errors.Is(err, job.ErrPayloadGone) {
			return true, nil // what nobody can read contradicts nothing
		}
		if err != nil {
			return false, err
		}
		known, err := job.ParseEnvelope(input)
		if err != nil {
			return false, nil //nolint:nilerr // what was started cannot be read as an envelope: it is not the same
		}
		if known.Replay == nil || known.Replay.OriginalRunID == "" {
			return c.sameInput(ctx, known, e)
		}
		runID = known.Replay.OriginalRunID
	}
	return true, nil
}

// sameJSON compares two JSON texts but for white space, escapes and the order of keys; numbers must be spelled alike.
func sameJSON(a, b []byte) bool {
	canonical := func(raw []byte) []byte {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		var v any
		if decoder.Decode(&v) != nil {
			return raw
		}
		encoded, err := json.Marshal(v)
		if err != nil {
			return raw
		}
		return encoded
	}
	return bytes.Equal(canonical(a), canonical(b))
}

// State returns where a job stands, from Temporal's own record of its run and of its Replay; never from visibility,
// which lags. An unknown key is an error that wraps job.ErrNotFound, a run that was ended from outside ErrUnrecorded.
func (c *Client) State(ctx context.Context, id job.KeyID) (job.State, error) {
	run, err := c.describe(ctx, id.JobWorkflowID())
	if err != nil {
		return "", err
	}
	parent := run.RawResponse.GetWorkflowExecutionInfo().GetParentExecution().GetWorkflowId()
	isReplay := parent == id.ReplayWorkflowID()
	switch run.Status {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		if isReplay {
			return job.StateReplaying, nil
		}
		return job.StateRunning, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		if isReplay {
			return job.StateResolved, nil
		}
		return job.StateCompleted, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED:
		if !isReplay {
			return job.StateCanceled, nil
		}
	}
	// It failed or was ended from outside, or a replay of it was canceled: its Replay knows what became of the dead letter. One that was lost leaves it dead-lettered.
	replay, err := c.describe(ctx, id.ReplayWorkflowID())
	unrecorded := run.Status == enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED || run.Status == enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT
	switch {
	case errors.Is(err, job.ErrNotFound) && unrecorded:
		return "", fmt.Errorf("job %s: %w (%s)", id, ErrUnrecorded, strings.ToLower(run.Status.String()))
	case errors.Is(err, job.ErrNotFound):
		return job.StateDeadLettered, nil
	case err != nil:
		return "", err
	}
	attribute := replay.RawResponse.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()[job.AttrJobState]
	var state job.State
	if attribute == nil || json.Unmarshal(attribute.GetData(), &state) != nil {
		return job.StateDeadLettered, nil
	}
	return state, nil
}

func (c *Client) describe(ctx context.Context, workflowID string) (*client.WorkflowExecutionDescription, error) {
	description, err := c.temporal.DescribeWorkflow(ctx, workflowID, "")
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return nil, fmt.Errorf("%s: %w", workflowID, job.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("describe %s: %w", workflowID, err)
	}
	return description, nil
}
