package integration_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// A payload that is too large for Temporal goes through the vault: it runs, fails, is dead-lettered, replayed and resolved,
// and Temporal never sees it.
func TestPrivacyLargePayload(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		large := note{canary + strings.Repeat(" and so on", 300_000)}
		require.Greater(t, len(large.Text), 3_000_000-1)
		var got int
		stop := s.work("v1", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) {
			got = len(n.Text)
			return nil, job.Rejected(errors.New("too long, says the printer"))
		}))
		enqueued := s.enqueue("note.keep", "a", large)
		letter := s.parked(enqueued.ID)
		require.Equal(t, len(large.Text), got)
		require.Equal(t, job.ClassRejected, letter.Class)
		require.NotEmpty(t, letter.PayloadRef)
		for _, f := range []string{enqueued.WorkflowID, letter.ReplayWorkflowID()} {
			text := s.historyJSON(f, "")
			hides(t, f, text)
			require.Less(t, len(text), 200_000, f)
		}
		stop()
		s.work("v2", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return len(n.Text), nil }))
		require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2 prints it"}).Accepted)
		require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
	})
}

// The same key again finds the job, also when its payload is in the vault, and the copy that nobody needs is erased.
func TestPrivacyLargePayloadTwice(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", repaired))
	large := note{strings.Repeat("and so on ", 300_000)}
	first := s.enqueue("note.keep", "a", large)
	_, err := s.wait(first.ID)
	require.NoError(t, err)
	again := s.enqueue("note.keep", "a", large)
	require.True(t, again.Duplicate)
	require.Equal(t, first.RunID, again.RunID)
	_, err = starter.Enqueue(t.Context(), s.starter, "note.keep", "a", note{large.Text + "!"}, starter.EnqueueOptions{})
	var conflict *starter.ConflictError
	require.ErrorAs(t, err, &conflict)
	_, err = starter.Enqueue(t.Context(), s.starter, "note.keep", "a", note{"small"}, starter.EnqueueOptions{})
	require.ErrorAs(t, err, &conflict)
}

// A type whose payloads always go through the vault, and a start that asks for it, leave a reference in Temporal.
func TestPrivacySensitivePayloadGoesThroughTheVault(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return n, nil }))
	sensitive := starter.New(s.client, starter.Options{
		Vault: s.vault, Sensitive: func(t job.Type) bool { return t == "note.keep" },
	})
	byType, err := starter.Enqueue(t.Context(), sensitive, "note.keep", "by-type", note{canary}, starter.EnqueueOptions{})
	require.NoError(t, err)
	byCall, err := starter.Enqueue(t.Context(), s.starter, "note.keep", "by-call", note{canary}, starter.EnqueueOptions{Vault: true})
	require.NoError(t, err)
	for _, enqueued := range []starter.Enqueued{byType, byCall} {
		_, err := s.wait(enqueued.ID)
		require.NoError(t, err)
		input := s.history(enqueued.WorkflowID, enqueued.RunID)[0].GetWorkflowExecutionStartedEventAttributes().GetInput()
		var envelope job.Envelope
		require.NoError(t, s.client.DataConverter().FromPayloads(input, &envelope))
		require.NotEmpty(t, envelope.PayloadRef)
		require.Empty(t, envelope.Payload)
		require.NoError(t, s.vault.Erase(t.Context(), envelope.PayloadRef))
		_, err = s.vault.Open(t.Context(), envelope.PayloadRef, enqueued.ID)
		require.ErrorIs(t, err, job.ErrPayloadGone)
	}
	_, err = starter.Enqueue(t.Context(), starter.New(s.client, starter.Options{}), "note.keep", "none", note{"x"}, starter.EnqueueOptions{Vault: true})
	require.ErrorIs(t, err, starter.ErrInvalidOptions)
}
