package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	sdktestsuite "go.temporal.io/sdk/testsuite"

	"github.com/redrivehq/redrive/job"
)

// Every try stays in the job's history, so a Replay that cannot be started is tried less and less often.
func TestParkWaitsLonger(t *testing.T) {
	t.Parallel()
	f := newFixture(t, order.JobWorkflowID())
	f.OnWorkflow(job.WorkflowReplay, mock.Anything, mock.Anything).Return(job.Parked{}, sdktestsuite.ErrMockStartChildWorkflowFailed).Times(12)
	f.OnWorkflow(job.WorkflowReplay, mock.Anything, mock.Anything).Return(job.Parked{}, nil)
	f.handler(func(job.Assignment) (json.RawMessage, error) { return nil, poison("no such field") })
	started := f.Now()
	f.ExecuteWorkflow(job.WorkflowJob, job.Envelope{Type: order.Type, Key: order.Key, SchemaVersion: 1, Payload: json.RawMessage(`{}`)})
	require.Equal(t, job.CausePoison, decodeDead(t, f.GetWorkflowError()).Cause)
	require.Greater(t, f.Now().Sub(started), 15*time.Minute, "twelve tries")
	require.Less(t, f.Now().Sub(started), time.Hour)
}
