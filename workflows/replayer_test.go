package workflows_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/workflows"
)

// TestRecordedHistories guards determinism: workflows that run today must be understood by the code of tomorrow. How
// to record new ones is said in testsuite/integration/record_test.go.
func TestRecordedHistories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/histories/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			recorded, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, replayHistory(t, recorded))
		})
	}
}

// The guard can fail: a history whose workflow did something else is refused.
func TestTamperedHistoryIsRefused(t *testing.T) {
	t.Parallel()
	recorded, err := os.ReadFile("testdata/histories/job-poison.json")
	require.NoError(t, err)
	tampered := bytes.ReplaceAll(recorded, []byte(`"`+job.ActivityRecordDeath+`"`), []byte(`"SomethingElse"`))
	require.NotEqual(t, recorded, tampered)
	require.ErrorContains(t, replayHistory(t, tampered), "TMPRL1100")
}

func replayHistory(t *testing.T, recorded []byte) error {
	t.Helper()
	history, err := client.HistoryFromJSON(bytes.NewReader(recorded), client.HistoryJSONOptions{})
	require.NoError(t, err)
	replayer := sdkworker.NewWorkflowReplayer()
	story := workflows.New(job.Policies{}, nil)
	replayer.RegisterWorkflowWithOptions(story.Job, workflow.RegisterOptions{Name: job.WorkflowJob})
	replayer.RegisterWorkflowWithOptions(story.Replay, workflow.RegisterOptions{Name: job.WorkflowReplay})
	// Job reads its identity from the workflow ID, so the replayer has to know it.
	started := history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
	return replayer.ReplayWorkflowHistoryWithOptions(nil, history, sdkworker.ReplayWorkflowHistoryOptions{
		OriginalExecution: workflow.Execution{ID: started.GetWorkflowId(), RunID: started.GetOriginalExecutionRunId()},
	})
}
