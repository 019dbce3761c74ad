package replay

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/internal/history"
	"github.com/redrivehq/redrive/job"
)

// release ends a Replay whose history nobody can read any more, since its key was destroyed: no worker can continue it, and
// a request to it would wait for ever. The store has its state, and the request starts it again.
func (c *Client) release(ctx context.Context, id job.KeyID) error {
	workflowID := id.ReplayWorkflowID()
	described, err := c.temporal.DescribeWorkflow(ctx, workflowID, "")
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("describe %s: %w", workflowID, err)
	}
	if described.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	runID := described.WorkflowExecution.RunID
	started, err := history.Start(ctx, c.temporal, workflowID, runID)
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = history.Input(started, c.data, converter.WorkflowSerializationContext{WorkflowID: workflowID})
	if !errors.Is(err, job.ErrPayloadGone) {
		return nil // it reads, or somebody else's keyset reads it
	}
	err = c.temporal.TerminateWorkflow(ctx, workflowID, runID, "its history was encrypted with a key that was destroyed")
	if err != nil && !errors.As(err, &gone) {
		return fmt.Errorf("terminate %s: %w", workflowID, err)
	}
	return nil
}
