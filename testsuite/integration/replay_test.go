package integration_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// broken refuses every payload whose text is "bad"; repaired accepts all.
func broken(_ context.Context, n note) (any, error) {
	if n.Text == "bad" {
		return nil, job.InvalidPayload(errors.New("text is bad"))
	}
	return "ok", nil
}

func repaired(context.Context, note) (any, error) { return "repaired", nil }

// The acceptance fixture of the first vertical slice: an invalid job between two valid ones.
func TestAcceptance(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		s.work("v1", handlers(t, "note.keep", broken))
		before, bad, after := s.enqueue("note.keep", "1", note{"good"}), s.enqueue("note.keep", "2", note{"bad"}), s.enqueue("note.keep", "3", note{"good"})
		for _, good := range []job.KeyID{before.ID, after.ID} {
			_, err := s.wait(good)
			require.NoError(t, err)
		}
		letter := s.parked(bad.ID)
		require.Equal(t, job.ClassInvalidPayload, letter.Class)
		require.Equal(t, job.CausePoison, letter.Cause)
		require.Equal(t, 1, letter.Log.Counted)

		refused := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "try again"})
		require.False(t, refused.Accepted)
		require.Equal(t, job.RefusedVersionUnchanged, refused.Refusal.Code)

		forced := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "I want to see it fail", Force: true})
		require.True(t, forced.Accepted, "%+v", forced.Refusal)
		require.Equal(t, job.OutcomeFailedAgain, s.outcome(letter.ID, 1).Outcome)

		// Nothing moves by itself for three minimum waits.
		s.until("parked again", func() bool { return s.state(bad.ID).State == job.StateDeadLettered })
		length := len(s.history(bad.ID.ReplayWorkflowID(), ""))
		calm := time.NewTimer(3 * quick().Replay.MinWait)
		select {
		case <-calm.C:
		case <-t.Context().Done():
		}
		require.Len(t, s.history(bad.ID.ReplayWorkflowID(), ""), length, "events of the parked Replay")
		after1 := s.letter(letter.ID)
		require.Equal(t, 1, after1.Replays)
		require.Len(t, after1.Failures, 2)
		require.Equal(t, letter.Fingerprint, after1.Failures[0].Fingerprint, "the original failure stays as it was")
	})
}

func TestReplayByARepairedHandler(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		stop := s.work("v1", handlers(t, "note.keep", broken))
		letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
		stop()
		s.work("v2", handlers(t, "note.keep", repaired))

		decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2 accepts it"})
		require.True(t, decision.Accepted, "%+v", decision.Refusal)
		record := s.outcome(letter.ID, decision.Replay)
		require.Equal(t, job.OutcomeResolved, record.Outcome)
		require.Equal(t, "ada", record.Actor)
		require.Equal(t, "v2 accepts it", record.Reason)

		done := s.letter(letter.ID)
		require.Equal(t, job.StateResolved, done.State)
		require.Len(t, done.Failures, 1)
		result, err := s.wait(letter.KeyID)
		require.NoError(t, err, "the key's latest run")
		require.JSONEq(t, `"repaired"`, string(result))

		late := s.ask(letter.ID, job.Request{Actor: "bob", Reason: "again"})
		require.Equal(t, job.RefusedAlreadyResolved, late.Refusal.Code)

		same := s.enqueue("note.keep", "a", note{"bad"})
		require.True(t, same.Duplicate, "the replay kept the key")
	})
}

// During a rollout the old and the new build poll one lane; the replay is run by the new one only.
func TestMixedFleet(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	var old, fresh atomic.Int64
	s.work("v1", handlers(t, "note.keep", func(ctx context.Context, n note) (any, error) { old.Add(1); return broken(ctx, n) }))
	const jobs = 8
	letters := make([]job.DeadLetter, 0, jobs)
	for i := range jobs {
		s.enqueue("note.keep", job.Key(rune('a'+i)), note{"bad"})
	}
	for i := range jobs {
		letters = append(letters, s.parked(job.KeyID{Type: "note.keep", Key: job.Key(rune('a' + i))}))
	}
	require.EqualValues(t, jobs, old.Load())
	s.lane("v2", handlers(t, "note.keep", func(ctx context.Context, n note) (any, error) { fresh.Add(1); return repaired(ctx, n) }))
	for _, letter := range letters {
		decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2 is out"})
		require.True(t, decision.Accepted, "%+v", decision.Refusal)
	}
	for _, letter := range letters {
		require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
	}
	require.EqualValues(t, jobs, old.Load(), "the old build ran no replay")
	require.EqualValues(t, jobs, fresh.Load())
}

// A repaired build is found beside many old ones, whichever of them polls first, and the record says which build it was.
func TestCanaryIsFound(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", broken))
	const jobs, others = 6, 4
	letters := make([]job.DeadLetter, 0, jobs)
	for i := range jobs {
		letters = append(letters, s.parked(s.enqueue("note.keep", job.Key(rune('a'+i)), note{"bad"}).ID))
	}
	for range others {
		s.lane("v1", handlers(t, "note.keep", broken))
	}
	s.lane("v2", handlers(t, "note.keep", repaired))
	for _, letter := range letters {
		decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2 is out"})
		require.True(t, decision.Accepted, "%+v", decision.Refusal)
	}
	for _, letter := range letters {
		require.Equal(t, "the job completed on handler version v2", s.outcome(letter.ID, 1).Detail)
	}
}

func TestNoLiveHandler(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	stop()
	s.work("v1", nil)
	decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "anybody there?"})
	require.Equal(t, job.RefusedNoLiveHandler, decision.Refusal.Code)
}

// A worker without a vault runs no replay, and the refusal says so instead of letting the replay wait for ever.
func TestReplayNeedsAVaultOnTheLane(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	stop()
	s.work("v1", nil)
	s.start(worker.Options{Handlers: handlers(t, "note.keep", repaired), HandlerVersion: "v2"})
	decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2 is out"})
	require.Equal(t, job.RefusedNoLiveHandler, decision.Refusal.Code)
	require.Contains(t, decision.Refusal.Detail, "no vault")
}

// A Replay that was terminated is healed by the next request; one that was canceled leaves the record.
func TestLostReplayHeals(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	killed := s.parked(s.enqueue("note.keep", "killed", note{"bad"}).ID)
	canceled := s.parked(s.enqueue("note.keep", "canceled", note{"bad"}).ID)
	require.NoError(t, s.client.TerminateWorkflow(t.Context(), killed.ReplayWorkflowID(), "", "test"))
	require.NoError(t, s.client.CancelWorkflow(t.Context(), canceled.ReplayWorkflowID(), ""))
	s.until("canceled", func() bool {
		d, err := s.client.DescribeWorkflow(t.Context(), canceled.ReplayWorkflowID(), "")
		return err == nil && d.Status == enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	})
	require.Equal(t, job.StateDeadLettered, s.letter(canceled.ID).State)
	stop()
	s.work("v2", handlers(t, "note.keep", repaired))
	for _, letter := range []job.DeadLetter{killed, canceled} {
		decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "heal"})
		require.True(t, decision.Accepted, "%+v", decision.Refusal)
		require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
	}
}

// A Replay that is terminated while its run works is followed up by the next request.
func TestReplayLostInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	stop()
	release := make(chan struct{})
	started := make(chan struct{})
	s.work("v2", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		close(started)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil, nil
	}))
	require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "go"}).Accepted)
	<-started
	require.NoError(t, s.client.TerminateWorkflow(t.Context(), letter.ReplayWorkflowID(), "", "test"))
	second := s.ask(letter.ID, job.Request{Actor: "bob", Reason: "go on"})
	require.Equal(t, job.RefusedAlreadyReplaying, second.Refusal.Code)
	close(release)
	require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
	require.Equal(t, job.StateResolved, s.letter(letter.ID).State)
}

// A producer that starts a closed key again adds to its lineage when it fails again, and resolves it when it does not.
func TestRestartedKeyJoinsItsLineage(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	enqueued := s.enqueue("note.keep", "a", note{"bad"})
	letter := s.parked(enqueued.ID)
	restart := func() {
		_, err := s.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: enqueued.WorkflowID, TaskQueue: job.QueueWorkflows},
			job.WorkflowJob, map[string]any{"type": "note.keep", "key": "a", "payload": note{"bad"}})
		require.NoError(t, err)
	}
	restart()
	s.until("second failure in the lineage", func() bool { return len(s.letter(letter.ID).Failures) == 2 })
	_, err := s.wait(enqueued.ID)
	require.Error(t, err)
	s.until("Replay knows the newest failure", func() bool {
		return s.state(enqueued.ID).Current.RunID == s.letter(letter.ID).Failures[1].RunID
	})
	stop()
	s.work("v2", handlers(t, "note.keep", repaired))
	restart()
	_, err = s.wait(enqueued.ID)
	require.NoError(t, err)
	decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "does it matter?"})
	require.True(t, decision.Accepted)
	record := s.outcome(letter.ID, 1)
	require.Equal(t, job.OutcomeRefused, record.Outcome)
	require.Contains(t, record.Detail, string(job.RefusedAlreadyResolved))
	require.Equal(t, job.StateResolved, s.letter(letter.ID).State)
}
