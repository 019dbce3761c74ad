package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// ErrCanceled is wrapped when a job that was waited for was canceled.
var ErrCanceled = errors.New("job was canceled")

// DeadLetteredError is how a job ends that stopped for good.
type DeadLetteredError struct {
	ID job.KeyID
	job.DeadLettered
}

// Error names the job, its dead letter and why it stopped.
func (e *DeadLetteredError) Error() string {
	return fmt.Sprintf("job %s was dead-lettered as %s: %s, %s after %d counted attempts",
		e.ID, e.DeadLetterID, e.Cause, e.Class, e.Attempts)
}

// Wait returns the result of the latest run of a job once it ends. Errors: *DeadLetteredError; wrapping ErrCanceled or
// job.ErrNotFound; or ctx's.
func (c *Client) Wait(ctx context.Context, id job.KeyID) (json.RawMessage, error) {
	var result json.RawMessage
	err := c.temporal.GetWorkflow(ctx, id.JobWorkflowID(), "").Get(ctx, &result)
	var gone *serviceerror.NotFound
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &gone):
		return nil, fmt.Errorf("wait for %s: %w", id, job.ErrNotFound)
	case temporal.IsCanceledError(err):
		return nil, fmt.Errorf("wait for %s: %w", id, ErrCanceled)
	}
	if dead, ok := wire.DecodeDeadLettered(err); ok {
		return nil, &DeadLetteredError{ID: id, DeadLettered: dead}
	}
	return nil, fmt.Errorf("wait for %s: %w", id, err)
}
