package integration_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// through starts a worker of only lanes behind a proxy.
func (s *stack) through(p *proxy, version string, h *worker.Handlers) {
	s.t.Helper()
	c, err := worker.Dial(s.t.Context(), vault.Protect(client.Options{HostPort: p.address, Namespace: s.namespace, Logger: quiet{}}, s.keys))
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	w, err := worker.New(c, worker.Options{Handlers: h, HandlerVersion: version, Payloads: s.vault, Drain: 100 * time.Millisecond})
	require.NoError(s.t, err)
	require.NoError(s.t, w.Start(s.t.Context()))
	s.t.Cleanup(w.Stop)
}

// A worker that is cut off from Temporal ends its handler before another one can have the job, and says why.
func TestCutOffWorkerEndsItsHandlerBeforeTheLease(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", nil)
	line := newProxy(t, shared.Address)
	type end struct {
		cause error
		at    time.Time
	}
	started, ended := make(chan struct{}, 1), make(chan end, 1)
	s.through(line, "v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- end{context.Cause(ctx), time.Now()}
		return nil, ctx.Err()
	}))
	enqueued := s.enqueue("note.keep", "a", note{})
	<-started
	s.until("the lease was extended once", func() bool { return s.beatsOf(enqueued.WorkflowID) })
	line.set(true)
	cut := time.Now()
	first := <-ended
	require.ErrorIs(t, first.cause, job.ErrLeaseLost)
	require.Less(t, first.at.Sub(cut), quick().Lease, "the handler was still running when the lease could have lapsed")

	s.lane("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) { return "elsewhere", nil }))
	result, err := s.wait(enqueued.ID)
	require.NoError(t, err)
	require.JSONEq(t, `"elsewhere"`, string(result))
}

// beatsOf tells whether the server holds heartbeat details of the job's attempt.
func (s *stack) beatsOf(workflowID string) bool {
	s.t.Helper()
	d, err := s.client.DescribeWorkflow(s.t.Context(), workflowID, "")
	require.NoError(s.t, err)
	pending := d.RawResponse.GetPendingActivities()
	return len(pending) == 1 && pending[0].GetHeartbeatDetails() != nil
}

// An outage of a third of the lease cancels nobody, also when it begins before the first heartbeat: what is left of the
// lease then, less the watchdog's margin, holds the outage and a reconnection.
func TestShortOutageCancelsNobody(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Lease, policy.Timeout = 6*time.Second, time.Minute
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	s.work("v1", nil)
	line := newProxy(t, shared.Address)
	const jobs = 10
	started, release := make(chan struct{}, 2*jobs), make(chan struct{})
	var runs, canceled atomic.Int64
	s.through(line, "v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		runs.Add(1)
		started <- struct{}{}
		select {
		case <-release:
			return "done", nil
		case <-ctx.Done():
			canceled.Add(1)
			return nil, context.Cause(ctx)
		}
	}))
	for i := range jobs { // one after the other, so that the outage meets leases of every age
		s.enqueue("note.keep", job.Key(fmt.Sprintf("job-%d", i)), note{})
		<-started
	}
	line.set(true)
	outage := time.NewTimer(policy.Lease / 3)
	<-outage.C
	line.set(false)
	calm := time.NewTimer(policy.Lease)
	<-calm.C
	close(release)
	for i := range jobs {
		_, err := s.wait(job.KeyID{Type: "note.keep", Key: job.Key(fmt.Sprintf("job-%d", i))})
		require.NoError(t, err)
	}
	require.EqualValues(t, jobs, runs.Load())
	require.Zero(t, canceled.Load())
}

// A job of many lease lengths that heartbeats runs exactly once.
func TestLongJobRunsOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Lease, policy.Timeout = 2*time.Second, time.Minute
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	var runs atomic.Int64
	s.work("v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		runs.Add(1)
		timer := time.NewTimer(10 * policy.Lease)
		defer timer.Stop()
		select {
		case <-timer.C:
			return "done", nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}))
	_, err := s.wait(s.enqueue("note.keep", "a", note{}).ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, runs.Load())
	require.GreaterOrEqual(t, s.beats.Load(), int64(20))
}

// A worker that stops hands the attempt back at once, uncounted; another starts it long before the lease has passed.
func TestDrainHandsTheAttemptBack(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Lease, policy.Timeout, policy.MaxAttempts = 20*time.Second, 30*time.Second, 1
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	s.work("v1", nil)
	started := make(chan struct{}, 1)
	var cause atomic.Value
	stop := s.lane("v1", handlers(t, "note.keep", func(ctx context.Context, _ note) (any, error) {
		started <- struct{}{}
		<-ctx.Done()
		cause.Store(context.Cause(ctx))
		return nil, ctx.Err()
	}))
	enqueued := s.enqueue("note.keep", "a", note{})
	<-started
	stop()
	left := time.Now()
	again := make(chan time.Time, 1)
	s.lane("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) {
		again <- time.Now()
		return nil, job.Rejected(errors.New("to see what was counted"))
	}))
	letter := s.parked(enqueued.ID)
	require.Less(t, (<-again).Sub(left), 3*time.Second)
	require.ErrorIs(t, cause.Load().(error), job.ErrShutdown)
	require.Equal(t, 1, letter.Log.Counted, "the drained attempt is not counted")
	require.Zero(t, letter.Log.Lost)
}
