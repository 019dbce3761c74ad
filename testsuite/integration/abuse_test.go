package integration_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// A delay does not eat the deadline: that is counted from the start of the job.
func TestDelayBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Lease, policy.Timeout, policy.Deadline = time.Second, time.Second, 2*time.Second
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	s.work("v1", handlers(t, "note.keep", repaired))
	delayed, err := starter.Enqueue(t.Context(), s.starter, "note.keep", "a", note{}, starter.EnqueueOptions{Delay: 3 * time.Second})
	require.NoError(t, err)
	_, err = s.wait(delayed.ID)
	require.NoError(t, err)
}

// Input that is no envelope is no payload either: a replay must not hand it to a handler that decodes it to nothing.
func TestUnparsedInputIsNotReplayed(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", repaired))
	_, err := s.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "job:note.keep:a", TaskQueue: job.QueueWorkflows},
		job.WorkflowJob, map[string]any{"type": "note.keep", "key": "a", "schema_version": -1, "payload": note{"hello"}})
	require.NoError(t, err)
	letter := s.parked(job.KeyID{Type: "note.keep", Key: "a"})
	decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "try", Force: true})
	require.False(t, decision.Accepted)
	require.Equal(t, job.RefusedPayloadUnavailable, decision.Refusal.Code)
}

// A handler that ignores the end of its context is counted, and gives its slot back.
func TestHungHandlerIsCounted(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Lease, policy.Timeout, policy.MaxAttempts = time.Second, time.Second, 2
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	s.work("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) { <-over; return nil, nil }))
	letter := s.parked(s.enqueue("note.keep", "a", note{}).ID)
	require.Equal(t, job.CauseAttemptsSpent, letter.Cause)
	require.Equal(t, job.ClassTimeout, letter.Class)
	require.Equal(t, 2, letter.Log.Counted)
	require.Zero(t, letter.Log.Lost)
}

// A worker with an old keyset hands the replay on: the payload is not gone because this process cannot open it.
func TestOldKeysetDoesNotLoseThePayload(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	stop()
	s.work("v1", nil)
	other, err := vault.GenerateKeyset()
	require.NoError(t, err)
	s.start(worker.Options{Handlers: handlers(t, "note.keep", repaired), HandlerVersion: "v2", Payloads: vault.New(other, s.store)})
	require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "go"}).Accepted)
	s.lane("v2", handlers(t, "note.keep", repaired))
	require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
}

// A Replay that was started under another key's ID answers for nobody and makes way.
func TestForgedReplayInput(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", broken))
	x := s.parked(s.enqueue("note.keep", "x", note{"bad"}).ID)
	_, err := s.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "replay:note.keep:a", TaskQueue: job.QueueWorkflows},
		job.WorkflowReplay, job.ReplayInput{DeadLetterID: x.ID, ID: x.KeyID})
	require.NoError(t, err)
	a := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	require.True(t, s.ask(a.ID, job.Request{Actor: "ada", Reason: "replay a", Force: true}).Accepted)
	require.Equal(t, job.OutcomeFailedAgain, s.outcome(a.ID, 1).Outcome)
	require.Zero(t, s.letter(x.ID).Replays, "the other key's dead letter was left alone")
}

// A key that failed anew without a payload is not replayed with the payload of before.
func TestNewestFailureReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	enqueued := s.enqueue("note.keep", "a", note{"bad"})
	letter := s.parked(enqueued.ID)
	_, err := s.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: enqueued.WorkflowID, TaskQueue: job.QueueWorkflows}, job.WorkflowJob)
	require.NoError(t, err)
	s.until("Replay knows the newest failure", func() bool {
		now := s.letter(letter.ID)
		return len(now.Failures) == 2 && s.state(enqueued.ID).Current.RunID == now.RunID
	})
	stop()
	s.work("v2", handlers(t, "note.keep", repaired))
	decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2"})
	require.False(t, decision.Accepted)
	require.Equal(t, job.RefusedPayloadUnavailable, decision.Refusal.Code)
}

// A cancel does not throw away a verdict that somebody has to look into.
func TestCancelKeepsAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	started := make(chan struct{}, 1)
	s.work("v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, job.UnknownOutcome(errors.New("the charge may have gone through"))
	}))
	enqueued := s.enqueue("note.keep", "a", note{})
	<-started
	require.NoError(t, s.starter.Cancel(t.Context(), enqueued.ID))
	require.Equal(t, job.CauseUnknownOutcome, s.parked(enqueued.ID).Cause)
}

// A payload reference opens for its own job only: one that names another job's payload is a payload that is not there.
func TestForeignPayloadReference(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", broken))
	victim := s.parked(s.enqueue("note.keep", "victim", note{"bad"}).ID)
	thief := job.KeyID{Type: "note.keep", Key: "thief"}
	_, err := s.starter.Start(t.Context(), job.Envelope{Type: thief.Type, Key: thief.Key, PayloadRef: victim.PayloadRef}, starter.EnqueueOptions{})
	require.NoError(t, err)
	letter := s.parked(thief)
	require.Equal(t, job.CausePayloadUnavailable, letter.Cause)
	require.Empty(t, letter.RedactedPayload)
}
