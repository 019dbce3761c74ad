package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// testInterleavings draws what two holders of one job's leases, the clock and an operator do to one effect. Whatever the
// order, the system that is called applies the effect once, and the fence never falls.
func testInterleavings(t *testing.T, open func(*testing.T) *store.DB) {
	for name, downstream := range map[string]bool{"PlainSystem": false, "DeduplicatingSystem": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			var effects atomic.Int64
			rapid.Check(t, func(rt *rapid.T) {
				w := &world{t: t, rt: rt, db: db, id: newEffect(int(effects.Add(1))), downstream: downstream, keys: map[string]bool{}}
				holders := []*holder{{w: w, name: "a"}, {w: w, name: "b"}}
				for range rapid.IntRange(4, 30).Draw(rt, "steps") {
					h := rapid.SampledFrom(holders).Draw(rt, "holder")
					step := rapid.SampledFrom(steps()).Draw(rt, "step")
					h.do(step)
					w.check()
				}
				w.finish()
			})
		})
	}
}

// steps are weighted, so that two holders often come as far as a call.
func steps() []string {
	return []string{
		"claim", "claim", "claim", "call", "call", "call", "expire", "expire", "commit", "commit", "renew", "snooze", "reset", "reconcile",
	}
}

// world is the truth about one effect.
type world struct {
	t          *testing.T
	rt         *rapid.T
	db         *store.DB
	id         job.EffectID
	downstream bool // the system that is called deduplicates
	calls      int
	keys       map[string]bool // that the system has seen
	fence      int64
	holders    int // ever
}

// applied counts what the called system did.
func (w *world) applied() int {
	if w.downstream {
		return len(w.keys)
	}
	return w.calls
}

func (w *world) record() (job.EffectRecord, bool) {
	got, err := w.db.Effect(w.t.Context(), w.id)
	if errors.Is(err, job.ErrNotFound) {
		return got, false
	}
	require.NoError(w.rt, err)
	return got, true
}

func (w *world) check() {
	got, there := w.record()
	if !there {
		require.Zero(w.rt, w.calls)
		return
	}
	require.GreaterOrEqual(w.rt, got.Fence, w.fence, "the fence fell")
	w.fence = got.Fence
	require.LessOrEqual(w.rt, w.applied(), 1, "applied twice")
	if got.State == job.EffectDone {
		require.Equal(w.rt, 1, w.applied(), "done, and it never happened")
	}
}

// finish lets whoever held a claim die, an operator find out, and one more replay run.
func (w *world) finish() {
	last := &holder{w: w, name: "last"}
	last.expire()
	last.reconcile()
	last.claim()
	if last.claimed != nil {
		last.call()
		last.commit()
	}
	w.check()
	got, there := w.record()
	require.True(w.rt, there)
	require.Equal(w.rt, job.EffectDone, got.State)
	require.Equal(w.rt, 1, w.applied())
}

// holder is one attempt after the other, as a worker runs them.
type holder struct {
	w       *world
	name    string
	claimed *job.EffectClaim
	called  bool
}

func (h *holder) do(step string) {
	map[string]func(){
		"claim": h.claim, "renew": h.renew, "expire": h.expire, "call": h.call, "commit": h.commit, "snooze": h.snooze,
		"reset": h.reset, "reconcile": h.reconcile,
	}[step]()
}

func (h *holder) claim() {
	if h.claimed != nil {
		return
	}
	h.w.holders++
	got, err := h.w.db.Claim(h.w.t.Context(), job.ClaimRequest{
		Effect: h.w.id, Holder: fmt.Sprint(h.name, h.w.holders), Lease: time.Hour, KeyTTL: 48 * time.Hour, Downstream: h.w.downstream,
	})
	if errors.Is(err, job.ErrEffectHeld) || errors.Is(err, job.ErrEffectUnknown) {
		require.False(h.w.rt, h.w.downstream && errors.Is(err, job.ErrEffectUnknown), "nothing is unknown to a system that deduplicates")
		return
	}
	require.NoError(h.w.rt, err)
	if got.Done {
		require.JSONEq(h.w.rt, `"receipt"`, string(got.Result))
		return
	}
	require.Greater(h.w.rt, got.Claim.Fence, h.w.fence)
	h.claimed, h.called = &got.Claim, false
}

// fenced lets go of a claim that was refused, which must be stale; one that was not must be the current one.
func (h *holder) fenced(err error) bool {
	got, _ := h.w.record()
	if err == nil {
		require.Equal(h.w.rt, got.Fence, h.claimed.Fence, "a stale holder was not refused")
		return false
	}
	require.ErrorIs(h.w.rt, err, job.ErrFenced)
	require.True(h.w.rt, got.Fence > h.claimed.Fence || got.State != job.EffectClaimed, "refused under the current fence")
	h.claimed = nil
	return true
}

func (h *holder) renew() {
	if h.claimed != nil {
		h.fenced(h.w.db.Renew(h.w.t.Context(), *h.claimed, time.Hour))
	}
}

// expire is the clock's: whoever has the claim is silent for a lease.
func (h *holder) expire() {
	got, there := h.w.record()
	if !there || got.State != job.EffectClaimed {
		return
	}
	require.NoError(h.w.rt, h.w.db.Renew(h.w.t.Context(), job.EffectClaim{Effect: h.w.id, Fence: got.Fence}, time.Microsecond))
	require.Eventually(h.w.rt, func() bool {
		got, _ := h.w.record()
		return got.Lapsed
	}, 5*time.Second, 500*time.Microsecond)
}

// call asks before it acts, as Once does after a pause. A system that deduplicates is also called by a stale holder.
func (h *holder) call() {
	if h.claimed == nil || h.called {
		return
	}
	err := h.w.db.Renew(h.w.t.Context(), *h.claimed, time.Hour)
	if !h.w.downstream && h.fenced(err) {
		return
	}
	h.called = true
	h.w.calls++
	h.w.keys[h.w.id.DownstreamKey()] = true
}

func (h *holder) commit() {
	if h.claimed == nil || !h.called {
		return
	}
	if !h.fenced(h.w.db.Complete(h.w.t.Context(), *h.claimed, json.RawMessage(`"receipt"`))) {
		got, _ := h.w.record()
		require.Equal(h.w.rt, job.EffectDone, got.State)
		h.claimed = nil
	}
}

// snooze gives the claim back before the call, as after a 429; after it, only where the system deduplicates.
func (h *holder) snooze() {
	if h.claimed == nil || h.called && !h.w.downstream {
		return
	}
	if !h.fenced(h.w.db.Release(h.w.t.Context(), *h.claimed, job.EffectFree)) {
		h.claimed = nil
	}
}

// reset is an operator's reset, a replay, or a kill: the next attempt of this worker knows nothing of the one before.
func (h *holder) reset() { h.claimed = nil }

// reconcile is an operator who has found out.
func (h *holder) reconcile() {
	got, there := h.w.record()
	if !there {
		return
	}
	settlement := job.Settlement{Effect: h.w.id, Fence: got.Fence, Happened: h.w.applied() > 0}
	if settlement.Happened {
		settlement.Result = json.RawMessage(`"receipt"`)
	}
	if err := h.w.db.Reconcile(h.w.t.Context(), settlement); err != nil {
		require.ErrorIs(h.w.rt, err, job.ErrEffectHeld)
	}
}
