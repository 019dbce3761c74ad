package integration_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// charging returns a registry with the handler that charges downstream.
func (d *downstream) charging(t *testing.T) *worker.Handlers {
	t.Helper()
	h := new(worker.Handlers)
	definition := job.Definition{Type: "note.call", Effects: job.EffectsLedger, Owner: "tests"}
	require.NoError(t, worker.Register(h, definition, downstreamClient{url: d.URL}.charge))
	return h
}

// second starts another worker, waits until it has applied the effect and the job is done, and returns what it saw.
func (s *stack) second(d *downstream, id job.KeyID) *observed {
	s.t.Helper()
	seen := newObserved()
	s.start(worker.Options{Handlers: d.charging(s.t), HandlerVersion: "v1", Payloads: s.vault, Ledger: s.store, Observer: seen})
	result, err := s.wait(id)
	require.NoError(s.t, err)
	require.JSONEq(s.t, `1`, string(result))
	return seen
}

// stands requires that the effect stands once, with the newer attempt's record.
func (s *stack) stands(d *downstream, id job.KeyID) {
	s.t.Helper()
	calls, effects := d.charges()
	require.Equal(s.t, 2, calls, "the stale attempt and the newer one both called")
	require.Equal(s.t, 1, effects)
	records, err := s.store.Effects(s.t.Context(), s.namespace, id)
	require.NoError(s.t, err)
	require.Len(s.t, records, 1)
	require.Equal(s.t, job.EffectDone, records[0].State)
	require.JSONEq(s.t, `1`, string(records[0].Result))
}

// A worker process that is frozen past its lease, while another attempt commits, and then thawed: the effect stands
// once, and the frozen attempt is refused and counted as fenced.
func TestFrozenWorkerIsFenced(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		d := newDownstream(t)
		s.policies.Default = quick()
		s.work("v1", nil)
		frozen := s.supervise(1, false, downstreamURL+"="+d.URL)
		id := s.enqueue("note.call", "a", note{}).ID
		require.Equal(t, "1", <-d.called)
		frozen.signal(syscall.SIGSTOP)
		t.Cleanup(func() { frozen.signal(syscall.SIGCONT) })
		seen := s.second(d, id)
		require.Equal(t, 1, seen.effect(job.EffectWasApplied))
		lapsed := seen.lease(job.LeaseUndelivered) + seen.lease(job.LeaseExpired)
		require.Positive(t, lapsed, "more than one when the server gave the job to the frozen process again")

		d.answer()
		frozen.signal(syscall.SIGCONT)
		require.Equal(t, "effect fenced", <-d.said)
		s.stands(d, id)
	})
}

// The same for a worker that is cut off from Temporal alone, and still reaches store and downstream.
func TestCutOffWorkerIsFenced(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		d := newDownstream(t)
		s.policies.Default = quick()
		s.work("v1", nil)
		line := newProxy(t, shared.Address)
		c, err := worker.Dial(t.Context(), vault.Protect(client.Options{HostPort: line.address, Namespace: s.namespace, Logger: quiet{}}, s.keys))
		require.NoError(t, err)
		t.Cleanup(c.Close)
		cut := newObserved()
		w, err := worker.New(c, worker.Options{
			Handlers: d.charging(t), HandlerVersion: "v1", Payloads: s.vault, Ledger: s.store, Drain: 1, Observer: cut,
		})
		require.NoError(t, err)
		require.NoError(t, w.Start(t.Context()))
		t.Cleanup(w.Stop)
		id := s.enqueue("note.call", "a", note{}).ID
		require.Equal(t, "1", <-d.called)
		line.set(true)
		seen := s.second(d, id)
		require.Equal(t, 1, seen.effect(job.EffectWasApplied))

		d.answer()
		s.until("the stale attempt was refused", func() bool { return cut.effect(job.EffectWasFenced) == 1 })
		require.Zero(t, cut.effect(job.EffectWasApplied))
		s.stands(d, id)
	})
}
