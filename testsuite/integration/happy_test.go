package integration_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

type note struct {
	Text string `json:"text"`
}

// Promise 7: the happy path costs what bare Temporal costs.
func TestHappyPathCostsElevenEventsAndNoHeartbeat(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Lease, policy.Timeout = 30*time.Second, time.Minute // a start that is late by a quarter of it costs a heartbeat
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	s.work("v1", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return n, nil }))
	enqueued := s.enqueue("note.keep", "a", note{"hello"})
	result, err := s.wait(enqueued.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"hello"}`, string(result))

	events := s.history(enqueued.WorkflowID, enqueued.RunID)
	require.Len(t, events, 11)
	require.Equal(t, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, events[10].GetEventType())
	require.Zero(t, s.beats.Load(), "heartbeats sent for a short job")
}

// Retries cost no history, and the log of attempts survives them.
func TestRetriesKeepTheLogAndCostNoHistory(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	var calls atomic.Int64
	s.work("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) {
		if calls.Add(1) < 3 {
			return nil, errors.New("not yet")
		}
		return "done", nil
	}))
	enqueued := s.enqueue("note.keep", "a", note{"hello"})
	_, err := s.wait(enqueued.ID)
	require.NoError(t, err)
	require.EqualValues(t, 3, calls.Load())
	require.Len(t, s.history(enqueued.WorkflowID, enqueued.RunID), 11)
}

func TestAttemptsSpent(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	var calls atomic.Int64
	s.work("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) {
		calls.Add(1)
		return nil, job.DependencyDown(errors.New("connection refused"))
	}))
	letter := s.parked(s.enqueue("note.keep", "a", note{"hello"}).ID)
	require.EqualValues(t, 3, calls.Load(), "max_attempts is 3")
	require.Equal(t, job.CauseAttemptsSpent, letter.Cause)
	require.Equal(t, job.ClassDependencyDown, letter.Class)
	require.Equal(t, 3, letter.Log.Counted)
	require.Len(t, letter.Log.Entries, 3)
	require.Equal(t, []int{1, 2, 3}, []int{letter.Log.Entries[0].Seq, letter.Log.Entries[1].Seq, letter.Log.Entries[2].Seq})
	require.Equal(t, "v1", letter.Log.Entries[0].Version)
	require.True(t, letter.FirstFailure.Before(letter.LastFailure))
}

// Every way to hide a class inside an error still arrives as that class (a wrapped error is retryable for Temporal).
func TestPoisonIsSeenThroughAnyWrapping(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	bad := map[string]func() error{
		"wrapped":  func() error { return errorsWrap(job.Rejected(errors.New("no such account"))) },
		"joined":   func() error { return errors.Join(errors.New("first"), job.Rejected(errors.New("no such account"))) },
		"panic":    func() error { panic("boom") },
		"nil-map":  func() error { var m map[string]int; m["x"] = 1; return nil }, //lint:ignore SA5000 the defect under test
		"no-text":  func() error { return panickyError{} },
		"too-long": func() error { return job.Rejected(errors.New(longText())) },
	}
	want := map[string]job.Class{
		"wrapped": job.ClassRejected, "joined": job.ClassRejected, "panic": job.ClassHandlerDefect,
		"nil-map": job.ClassHandlerDefect, "no-text": job.ClassTransient, "too-long": job.ClassRejected,
	}
	s.work("v1", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return nil, bad[n.Text]() }))
	for name := range bad {
		s.enqueue("note.keep", job.Key(name), note{name})
	}
	for name := range bad {
		letter := s.parked(job.KeyID{Type: "note.keep", Key: job.Key(name)})
		require.Equal(t, want[name], letter.Class, name)
		require.NotEmpty(t, letter.Message, name)
		require.LessOrEqual(t, len(letter.Message), job.MaxMessageBytes, name)
		if want[name] != job.ClassTransient {
			require.Equal(t, 1, letter.Log.Counted, name)
		}
	}
}

func TestSameKeyTwice(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) { return nil, nil }))
	first := s.enqueue("note.keep", "a", note{"hello"})
	_, err := s.wait(first.ID)
	require.NoError(t, err)

	again := s.enqueue("note.keep", "a", note{"hello"})
	require.True(t, again.Duplicate)
	require.Equal(t, first.RunID, again.RunID)
	require.Equal(t, job.StateCompleted, again.State)

	_, err = starter.Enqueue(t.Context(), s.starter, "note.keep", "a", note{"other"}, starter.EnqueueOptions{})
	var conflict *starter.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, first.RunID, conflict.Existing.RunID)
}

func TestUnpolledLaneIsSaid(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	enqueued := s.enqueue("emial.send", "a", note{"hello"})
	require.Contains(t, enqueued.Warning, "no worker polls redrive.emial.send")
}
