//go:build record

package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redrivehq/redrive/job"
)

// TestRecordHistories writes the histories that workflows/replayer_test.go replays. Run it when a workflow changes on
// purpose: REDRIVE_RECORD_HISTORIES=<dir> go test -tags=record -run TestRecordHistories ./testsuite/integration
func TestRecordHistories(t *testing.T) {
	dir := os.Getenv("REDRIVE_RECORD_HISTORIES")
	require.NotEmpty(t, dir, "REDRIVE_RECORD_HISTORIES names the directory to write to")
	s := newStack(t, openSQLite)
	r := recorder{s: s, dir: dir}
	stop := s.work("v1", handlers(t, "note.keep", func(ctx context.Context, n note) (any, error) {
		switch n.Text {
		case "down":
			return nil, job.DependencyDown(errors.New("connection refused"))
		case "unknown":
			return job.Once(ctx, "charge", func(context.Context, string) (string, error) {
				return "", job.UnknownOutcome(errors.New("the connection broke"))
			})
		}
		return broken(ctx, n)
	}))
	_, err := s.wait(s.enqueue("note.keep", "completed", note{"good"}).ID)
	require.NoError(t, err)
	r.save("job-completed", job.KeyID{Type: "note.keep", Key: "completed"}.JobWorkflowID())

	for key, text := range map[job.Key]string{"poison": "bad", "spent": "down", "discarded": "bad", "replayed": "bad", "lost": "bad", "restarted": "bad", "unknown": "unknown"} {
		s.parked(s.enqueue("note.keep", key, note{text}).ID)
	}
	id := func(key job.Key) job.KeyID { return job.KeyID{Type: "note.keep", Key: key} }
	letter := func(key job.Key) job.DeadLetterID { return job.NewDeadLetterID(s.namespace, id(key)) }
	r.save("job-poison", id("poison").JobWorkflowID())
	r.save("job-attempts-spent", id("spent").JobWorkflowID())
	s.post("job:note.keep:text", map[string]any{
		"workflowType": map[string]any{"name": "Job"}, "taskQueue": map[string]any{"name": "redrive"}, "input": []any{"not an envelope"},
	})
	s.parked(id("text"))
	r.save("job-invalid-input", id("text").JobWorkflowID())

	r.discard(letter("discarded"))
	s.until("discarded", func() bool { return s.letter(letter("discarded")).State == job.StateDiscarded })
	r.save("replay-discarded", id("discarded").ReplayWorkflowID())

	require.False(t, s.ask(letter("unknown"), job.Request{Actor: "ada", Reason: "too soon"}).Accepted)
	require.False(t, s.reconcile(letter("unknown"), job.Request{Effect: "other", Happened: new(true)}).Accepted)
	require.True(t, s.reconcile(letter("unknown"), job.Request{Effect: "charge", Happened: new(false)}).Accepted)
	require.True(t, s.ask(letter("unknown"), job.Request{Actor: "ada", Reason: "unknown again"}).Accepted)
	require.Equal(t, job.OutcomeFailedAgain, s.outcome(letter("unknown"), 1).Outcome)
	require.True(t, s.reconcile(letter("unknown"), job.Request{Effect: "charge", Happened: new(true), Result: json.RawMessage(`"ch_81"`)}).Accepted)
	r.discard(letter("unknown"))
	s.until("discarded", func() bool { return s.letter(letter("unknown")).State == job.StateDiscarded })
	r.save("replay-reconciled", id("unknown").ReplayWorkflowID())
	r.save("job-unknown-outcome", id("unknown").JobWorkflowID())

	require.False(t, s.ask(letter("replayed"), job.Request{Actor: "ada", Reason: "unchanged"}).Accepted)
	require.True(t, s.ask(letter("replayed"), job.Request{Actor: "ada", Reason: "forced", Force: true}).Accepted)
	require.Equal(t, job.OutcomeFailedAgain, s.outcome(letter("replayed"), 1).Outcome)
	s.rawSignal(id("replayed").ReplayWorkflowID(), "annotate", plainJSON(`"malformed"`))
	stop()

	var slow atomic.Bool
	hold := make(chan struct{})
	s.work("v2", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		if slow.Load() {
			select {
			case <-hold:
			case <-ctx.Done():
			}
		}
		return "repaired", nil
	}))
	s.until("the wait is over", func() bool { return time.Now().After(*s.letter(letter("replayed")).NotBefore) })
	require.True(t, s.ask(letter("replayed"), job.Request{Actor: "ada", Reason: "v2"}).Accepted)
	require.Equal(t, job.OutcomeResolved, s.outcome(letter("replayed"), 2).Outcome)
	r.save("replay-refused-forced-resolved", id("replayed").ReplayWorkflowID())
	r.save("job-replayed", id("replayed").JobWorkflowID())

	slow.Store(true)
	require.True(t, s.ask(letter("lost"), job.Request{Actor: "ada", Reason: "go"}).Accepted)
	require.NoError(t, s.client.TerminateWorkflow(t.Context(), id("lost").ReplayWorkflowID(), "", "test"))
	require.False(t, s.ask(letter("lost"), job.Request{Actor: "ada", Reason: "go on"}).Accepted)
	close(hold)
	require.Equal(t, job.OutcomeResolved, s.outcome(letter("lost"), 1).Outcome)
	r.save("replay-follows-a-lost-one", id("lost").ReplayWorkflowID())
}

type recorder struct {
	s   *stack
	dir string
}

func (r recorder) discard(id job.DeadLetterID) {
	_, err := r.s.replay.Send(r.s.t.Context(), id, job.RequestDiscard, job.Request{Actor: "ada", Reason: "a test order"})
	require.NoError(r.s.t, err)
}

// save writes the history of a workflow that has ended.
func (r recorder) save(name, workflowID string) {
	r.s.t.Helper()
	r.s.until(workflowID+" has ended", func() bool {
		d, err := r.s.client.DescribeWorkflow(r.s.t.Context(), workflowID, "")
		return err == nil && d.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	})
	encoded, err := protojson.MarshalOptions{Indent: " "}.Marshal(&historypb.History{Events: r.s.history(workflowID, "")})
	require.NoError(r.s.t, err)
	require.NoError(r.s.t, os.WriteFile(filepath.Join(r.dir, name+".json"), append(encoded, '\n'), 0o644)) //nolint:gosec // test data
}
