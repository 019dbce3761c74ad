package integration_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/worker"
)

// forget removes the latest run of a job, which must be closed and the only one, from the namespace, as retention does.
func (s *stack) forget(id job.KeyID) {
	s.t.Helper()
	_, err := s.client.WorkflowService().DeleteWorkflowExecution(s.t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id.JobWorkflowID()},
	})
	require.NoError(s.t, err)
	s.until(id.String()+" is forgotten", func() bool {
		_, err := s.client.DescribeWorkflow(s.t.Context(), id.JobWorkflowID(), "")
		var gone *serviceerror.NotFound
		return errors.As(err, &gone)
	})
}

// With dedupe: store, a key that is started again after the namespace has forgotten it gets the result it had, and its
// handler does not run. Without, it runs again: nobody knows the key any more.
func TestKeyOutlivesItsHistory(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		s.policies.Default = quick()
		dedupe := quick()
		dedupe.Dedupe = job.DedupeStore
		s.policies.ByType = map[job.Type]job.Policy{"note.count": dedupe}
		h := new(worker.Handlers)
		var counted, plain atomic.Int64
		for jobType, runs := range map[job.Type]*atomic.Int64{"note.count": &counted, "note.plain": &plain} {
			definition := job.Definition{Type: jobType, Effects: job.EffectsNone, Owner: "tests"}
			require.NoError(t, worker.Register(h, definition, func(context.Context, note) (any, error) { return runs.Add(1), nil }))
		}
		core, logs := observer.New(zap.InfoLevel)
		s.start(worker.Options{
			Handlers: h, HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Vault: s.vault, Drain: time.Second, Logger: zap.New(core),
		})
		result := func(jobType job.Type) string {
			enqueued := s.enqueue(jobType, "a", note{"hello"})
			require.False(t, enqueued.Duplicate, "Temporal does not know the key")
			raw, err := s.wait(enqueued.ID)
			require.NoError(t, err)
			require.Len(t, s.history(enqueued.WorkflowID, ""), 11, "events of %s", jobType)
			return string(raw)
		}
		for _, jobType := range []job.Type{"note.count", "note.plain"} {
			require.JSONEq(t, `1`, result(jobType))
			s.forget(job.KeyID{Type: jobType, Key: "a"})
		}
		require.Zero(t, logs.FilterMessage("job deduplicated").Len())
		require.JSONEq(t, `1`, result("note.count"), "the result of the first start")
		require.EqualValues(t, 1, counted.Load())
		said := logs.FilterMessage("job deduplicated").All()
		require.Len(t, said, 1)
		require.Equal(t, map[string]any{"job_type": "note.count", "job_key": "a"}, said[0].ContextMap())
		require.JSONEq(t, `2`, result("note.plain"))

		effects, err := s.store.Effects(t.Context(), s.namespace, job.KeyID{Type: "note.plain", Key: "a"})
		require.NoError(t, err)
		require.Empty(t, effects, "who does not ask for it does not pay")
	})
}

// A replay of a key that was processed meanwhile is resolved with that result: the handler does not run.
func TestReplayOfAProcessedKey(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.policies.Default = quick()
	s.policies.Default.Dedupe = job.DedupeStore
	var runs atomic.Int64
	h := new(worker.Handlers)
	definition := job.Definition{Type: "note.count", Effects: job.EffectsNone, Owner: "tests"}
	require.NoError(t, worker.Register(h, definition, func(context.Context, note) (any, error) {
		if runs.Add(1) == 1 {
			return nil, job.Rejected(errors.New("not today"))
		}
		return runs.Load(), nil
	}))
	s.work("v1", h)
	letter := s.parked(s.enqueue("note.count", "a", note{"hello"}).ID)
	s.forget(letter.KeyID)
	result, err := s.wait(s.enqueue("note.count", "a", note{"hello"}).ID)
	require.NoError(t, err)
	require.JSONEq(t, `2`, string(result))
	s.forget(letter.KeyID)
	require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "does it matter?", Force: true}).Accepted)
	require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
	result, err = s.wait(letter.KeyID)
	require.NoError(t, err)
	require.JSONEq(t, `2`, string(result))
	require.EqualValues(t, 2, runs.Load())
}

// A worker of the store's queue forgets effects whose key TTL has ended, and no others.
func TestExpiredEffectsArePurged(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		effect := func(key job.Key, ttl time.Duration) job.EffectID {
			id := job.EffectID{Namespace: s.namespace, Job: job.KeyID{Type: "note.keep", Key: key}, Name: "charge"}
			claimed, err := s.store.Claim(t.Context(), job.ClaimRequest{Effect: id, Holder: string(key), Lease: time.Microsecond, KeyTTL: ttl})
			require.NoError(t, err)
			require.NoError(t, s.store.Complete(t.Context(), claimed.Claim, nil))
			return id
		}
		known := func(id job.EffectID) bool {
			_, err := s.store.Effect(t.Context(), id)
			if !errors.Is(err, job.ErrNotFound) {
				require.NoError(t, err)
			}
			return err == nil
		}
		stop := s.work("v1", handlers(t, "note.keep", broken))
		letter := s.parked(s.enqueue("note.keep", "parked", note{"bad"}).ID)
		stop()
		parked, lasting := effect(letter.Key, time.Microsecond), effect("lasting", time.Hour)
		var expired []job.EffectID
		for i := range 5 {
			expired = append(expired, effect(job.Key(rune('a'+i)), time.Microsecond))
		}
		core, logs := observer.New(zap.InfoLevel)
		s.start(worker.Options{
			HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Vault: s.vault, Drain: time.Second, Logger: zap.New(core),
			PurgeEvery: 50 * time.Millisecond,
		})
		for _, id := range expired {
			s.until(id.String()+" is forgotten", func() bool { return !known(id) })
		}
		s.until("it is said", func() bool {
			said := 0
			for _, line := range logs.FilterMessage("expired effects purged").All() {
				said += int(line.ContextMap()["count"].(int64))
			}
			return said == len(expired)
		})
		require.True(t, known(lasting), "its key TTL has not ended")
		require.True(t, known(parked), "a replay may ask for it")
	})
}

// stuckLedger purges until it is told to stop.
type stuckLedger struct {
	*store.DB
	entered chan struct{}
	left    atomic.Bool
}

func (l *stuckLedger) PurgeExpired(ctx context.Context, _ time.Time, _ int) (int, error) {
	close(l.entered)
	<-ctx.Done()
	l.left.Store(true)
	return 0, ctx.Err()
}

func TestPurgeEndsWithTheWorker(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	ledger := &stuckLedger{DB: s.store, entered: make(chan struct{})}
	stop := s.start(worker.Options{
		HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Ledger: ledger, Vault: s.vault, PurgeEvery: time.Millisecond,
	})
	<-ledger.entered
	stop()
	require.True(t, ledger.left.Load())
}
