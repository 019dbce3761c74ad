package integration_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// resuming is a handler that returns what the attempts before left.
func resuming(ctx context.Context, _ note) (any, error) {
	var row int
	found, err := job.LeaseFrom(ctx).Resume(&row)
	if err == nil && !found {
		err = job.Rejected(errors.New("nothing to resume"))
	}
	return row, err
}

// What a handler reported comes back after its process was killed.
func TestResumeAfterAKill(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.policies.Default = quick()
	s.work("v1", nil)
	first := s.supervise(1, false)
	enqueued := s.enqueue("note.keep", "a", note{"resume"})
	s.until("the lease was extended once", func() bool { return s.beatsOf(enqueued.WorkflowID) })
	first.kill()
	s.lane("v1", handlers(t, "note.keep", resuming))
	result, err := s.wait(enqueued.ID)
	require.NoError(t, err)
	require.JSONEq(t, `7`, string(result))
}

// It also comes back after a failure, after another one that reported nothing, and after a drain, though no heartbeat
// was ever sent.
func TestResumeAfterFailureAndDrain(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Lease, policy.Timeout = 20*time.Second, 30*time.Second
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	s.work("v1", nil)
	waiting := make(chan struct{}, 1)
	stop := s.lane("v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		switch attempt, _ := job.AttemptFrom(ctx); attempt.Number {
		case 1:
			return nil, errors.Join(job.LeaseFrom(ctx).Progress(7), errors.New("later"))
		case 2:
			return nil, errors.New("and later")
		}
		waiting <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	enqueued := s.enqueue("note.keep", "a", note{})
	<-waiting
	stop()
	s.lane("v1", handlers(t, "note.keep", resuming))
	result, err := s.wait(enqueued.ID)
	require.NoError(t, err)
	require.JSONEq(t, `7`, string(result))
}

// A handler that hangs is ended by its stall limit, counted, long before its timeout, though its process is alive.
func TestStalledHandlerIsEnded(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Stall, policy.Timeout, policy.MaxAttempts, policy.Deadline = time.Second, time.Hour, 2, 2*time.Hour
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	s.work("v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}))
	letter := s.parked(s.enqueue("note.keep", "a", note{}).ID)
	require.Equal(t, job.ClassTimeout, letter.Class)
	require.Equal(t, job.CauseAttemptsSpent, letter.Cause)
	require.Equal(t, 2, letter.Log.Counted)
	require.Contains(t, letter.Message, "no progress was reported for 1s")
}
