package integration_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/testsuite/pg"
	"github.com/redrivehq/redrive/testsuite/services"
)

// Promise 1: with the dead-letter database stopped, a poison job stays open and visible; when it comes back, the record
// is written once and Replay is parked.
func TestStoreOutageLosesNothing(t *testing.T) {
	t.Parallel()
	services.Needed(t, "the embedded Temporal and PostgreSQL")
	cluster := pg.StartForTest(t)
	s := newStack(t, func(t *testing.T) (*store.DB, string) {
		t.Helper()
		dsn, err := cluster.CreateDatabase(t.Context())
		require.NoError(t, err)
		return openDSN(t, dsn)
	})
	s.work("v1", handlers(t, "note.keep", broken))
	require.NoError(t, cluster.Pause(t.Context()))

	bad, good := s.enqueue("note.keep", "bad", note{"bad"}), s.enqueue("note.keep", "good", note{"good"})
	_, err := s.wait(good.ID)
	require.NoError(t, err, "valid jobs do not need the store")
	s.until("the writing of the record has been tried again", func() bool {
		d, err := s.client.DescribeWorkflow(t.Context(), bad.WorkflowID, "")
		require.NoError(t, err)
		pending := d.RawResponse.GetPendingActivities()
		return len(pending) == 1 && pending[0].GetActivityType().GetName() == job.ActivityRecordDeath && pending[0].GetAttempt() > 2
	})
	d, err := s.client.DescribeWorkflow(t.Context(), bad.WorkflowID, "")
	require.NoError(t, err)
	require.Equal(t, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, d.Status)
	class := d.RawResponse.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()[job.AttrErrorClass]
	require.Equal(t, `"invalid_payload"`, string(class.GetData()), "it can be found while it waits")
	require.NotContains(t, d.RawResponse.GetPendingActivities()[0].GetLastFailure().String(), "postgres", "no DSN in the failure")

	require.NoError(t, cluster.Resume(t.Context()))
	letter := s.parked(bad.ID)
	require.Len(t, letter.Failures, 1)
	page, err := s.store.DeadLetters(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Len(t, page.Letters, 1)
	require.WithinDuration(t, time.Now(), letter.UpdatedAt, patience)
}
