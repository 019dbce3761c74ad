package starter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/redrivehq/redrive/job"
)

// Open tells whether a run of the job is open: one that works, waits for its delay, or is being compensated. A key that
// Temporal does not know, or no longer, has none.
func (c *Client) Open(ctx context.Context, id job.KeyID) (bool, error) {
	run, err := c.describe(ctx, id.JobWorkflowID())
	if errors.Is(err, job.ErrNotFound) {
		return false, nil
	}
	return err == nil && run.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, err
}

// closePoll is how often a run that was asked to stop is looked at.
const closePoll = 200 * time.Millisecond

// Stop cancels the job's open run and waits until none is open, or ctx ends. A job that is not open is stopped already.
func (c *Client) Stop(ctx context.Context, id job.KeyID) error {
	if err := c.Cancel(ctx, id); err != nil {
		if errors.Is(err, ErrNotRunning) || errors.Is(err, job.ErrNotFound) {
			return nil
		}
		return err
	}
	ticker := time.NewTicker(closePoll)
	defer ticker.Stop()
	for {
		if open, err := c.Open(ctx, id); err != nil || !open {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to stop: %w", id, ctx.Err())
		case <-ticker.C:
		}
	}
}

// DeleteRuns deletes the job's closed runs from Temporal with their histories, and returns how many it asked for. Their
// inputs, results and heartbeats are gone then, within seconds: the server deletes in the background. So is the server's
// memory of the key; what guards against running it twice afterwards is the ledger. known are run IDs that visibility need
// not have yet. Repeated, it deletes what is left.
//
// Visibility lists runs here, although it lags: the runs it may not have yet are the latest one and those that are known.
func (c *Client) DeleteRuns(ctx context.Context, namespace string, id job.KeyID, known ...string) (deleted int, err error) {
	runs, err := c.runs(ctx, namespace, id, known)
	if err != nil {
		return 0, fmt.Errorf("list the runs of %s: %w", id, err)
	}
	for _, runID := range runs {
		closed, err := c.closed(ctx, id, runID)
		if err != nil {
			return deleted, err
		}
		if !closed {
			continue
		}
		_, err = c.temporal.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id.JobWorkflowID(), RunId: runID},
		})
		var gone *serviceerror.NotFound
		if err != nil && !errors.As(err, &gone) {
			return deleted, fmt.Errorf("delete run %s of %s: %w", runID, id, err)
		}
		deleted++
	}
	return deleted, nil
}

// closed tells whether a run exists and is closed.
func (c *Client) closed(ctx context.Context, id job.KeyID, runID string) (bool, error) {
	description, err := c.temporal.DescribeWorkflow(ctx, id.JobWorkflowID(), runID)
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("describe run %s of %s: %w", runID, id, err)
	}
	return description.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}

// runs are the run IDs of a job, each once.
func (c *Client) runs(ctx context.Context, namespace string, id job.KeyID, known []string) ([]string, error) {
	seen := map[string]bool{"": true}
	var found []string
	add := func(runID string) {
		if !seen[runID] {
			seen[runID] = true
			found = append(found, runID)
		}
	}
	latest, err := c.describe(ctx, id.JobWorkflowID())
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return nil, err
	}
	if err == nil {
		add(latest.WorkflowExecution.RunID)
	}
	for _, runID := range known {
		add(runID)
	}
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace, Query: "WorkflowId = " + quoted(id.JobWorkflowID()),
	}
	for {
		page, err := c.temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, execution := range page.GetExecutions() {
			add(execution.GetExecution().GetRunId())
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return found, nil
		}
	}
}

// quoted is text as a value of a visibility query.
func quoted(text string) string {
	return `'` + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + `'`
}
