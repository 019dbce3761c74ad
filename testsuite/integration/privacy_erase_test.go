package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/vault"
)

func erasureBecause(reason string) vault.ErasureRequest {
	return vault.ErasureRequest{Erasure: job.Erasure{Actor: "ada", Credential: "test", Reason: reason}}
}

// gone waits until Temporal has deleted a run.
func (s *stack) gone(workflowID, runID string) {
	s.t.Helper()
	s.until("run "+runID+" of "+workflowID+" is deleted", func() bool {
		_, err := s.client.DescribeWorkflow(s.t.Context(), workflowID, runID)
		var notFound *serviceerror.NotFound
		return errors.As(err, &notFound)
	})
}

func (s *stack) about(subject string, key job.Key, text string, inVault bool) starter.Enqueued {
	s.t.Helper()
	enqueued, err := starter.Enqueue(s.t.Context(), s.starter, "note.keep", key, note{text}, starter.EnqueueOptions{Subject: subject, Vault: inVault})
	require.NoError(s.t, err)
	return enqueued
}

// Erasing a subject takes the payloads of all its jobs, whatever became of them, and leaves others' alone. The dead letter
// stays parked, and can tell why it cannot run again.
func TestPrivacyEraseSubject(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		stop := s.work("v1", handlers(t, "note.keep", broken))
		dead, done, others := s.about("user-77", "dead", "bad", false), s.about("user-77", "done", canary, true), s.about("user-78", "others", "bad", false)
		letter, stranger := s.parked(dead.ID), s.parked(others.ID)
		_, err := s.wait(done.ID)
		require.NoError(t, err)
		stop()
		s.work("v2", handlers(t, "note.keep", repaired))

		eraser := vault.NewEraser(s.store, s.starter, s.namespace)
		erased, err := eraser.Subject(t.Context(), "user-77", erasureBecause("request 4711"))
		require.NoError(t, err)
		require.Len(t, erased, 2)
		for i, want := range []struct {
			id      job.KeyID
			records int
		}{{dead.ID, 1}, {done.ID, 0}} {
			require.NoError(t, erased[i].Err)
			require.Equal(t, want.id, erased[i].ID)
			require.Equal(t, job.Erased{Payloads: 1, Records: want.records}, erased[i].Erased, want.id.String())
			require.Equal(t, 1, erased[i].Runs, want.id.String())
		}
		s.gone(dead.WorkflowID, dead.RunID)
		s.gone(done.WorkflowID, done.RunID)

		after := s.letter(letter.ID)
		require.Equal(t, "request 4711", after.Erased.Reason)
		require.Empty(t, after.RedactedPayload)
		require.Equal(t, letter.Message, after.Message)
		_, err = s.vault.Open(t.Context(), letter.PayloadRef, letter.KeyID)
		require.ErrorIs(t, err, job.ErrPayloadGone)

		require.Equal(t, job.StateDeadLettered, s.state(dead.ID).State, "Replay stays parked")
		refused := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2 is out"})
		require.False(t, refused.Accepted)
		require.Equal(t, job.RefusedPayloadUnavailable, refused.Refusal.Code)

		again, err := eraser.Subject(t.Context(), "user-77", erasureBecause("once more"))
		require.NoError(t, err)
		for _, repeated := range again {
			require.NoError(t, repeated.Err)
			require.Zero(t, repeated.Parts())
		}
		require.Equal(t, "request 4711", s.letter(letter.ID).Erased.Reason)

		require.True(t, s.ask(stranger.ID, job.Request{Actor: "ada", Reason: "v2 is out"}).Accepted)
		require.Equal(t, job.OutcomeResolved, s.outcome(stranger.ID, 1).Outcome, "others' jobs are as they were")
		log, err := s.store.Audit(t.Context(), 0)
		require.NoError(t, err)
		require.Len(t, log, 4)
		encoded, err := json.Marshal(log)
		require.NoError(t, err)
		hides(t, "audit log", string(encoded))
	})
}

// A job that runs is refused, and left alone, unless it may be stopped.
func TestPrivacyEraseOpenJob(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}))
	enqueued := s.about("user-77", "a", canary, true)
	eraser := vault.NewEraser(s.store, s.starter, s.namespace)
	require.ErrorIs(t, eraser.Job(t.Context(), enqueued.ID, erasureBecause("why")).Err, job.ErrJobOpen)
	found, err := s.store.Audit(t.Context(), 0)
	require.NoError(t, err)
	require.Empty(t, found, "nothing happened")

	request := erasureBecause("why")
	request.Cancel = true
	done := eraser.Job(t.Context(), enqueued.ID, request)
	require.NoError(t, done.Err)
	require.Equal(t, 1, done.Payloads)
	require.Equal(t, 1, done.Runs)
	s.gone(enqueued.WorkflowID, enqueued.RunID)
}
