package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

type testingContext interface{ Context() context.Context }

// attempt is the context of an attempt at job number n; replays and resets differ in nothing that the ledger looks at.
func attempt(t *testing.T, db *store.DB, n, number, replay int) context.Context {
	ctx := job.WithAttempt(t.Context(), job.AttemptInfo{ID: newEffect(n).Job, Number: number, Replay: replay})
	return job.WithLedger(ctx, db, job.EffectScope{Namespace: "default", Holder: "w1", Lease: time.Hour})
}

type receipt struct {
	Key   string
	Count int
}

func testOnce(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("AppliedOnceAndTheResultReturned", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		calls := 0
		charge := func(_ context.Context, key string) (receipt, error) {
			calls++
			return receipt{Key: key, Count: calls}, nil
		}
		want := receipt{Key: newEffect(1).DownstreamKey(), Count: 1}
		for _, run := range []struct{ number, replay int }{{1, 0}, {2, 0}, {1, 0}, {1, 1}} { // a retry, a reset, a replay
			got, err := job.Once(attempt(t, db, 1, run.number, run.replay), "charge", charge)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		require.Equal(t, 1, calls)
	})
	t.Run("CrashBetweenCallAndRecord", func(t *testing.T) {
		t.Parallel()
		for n, options := range []job.OnceOptions{{}, {Downstream: true}} {
			db := open(t)
			keys := map[string]int{}
			die := func(_ context.Context, key string) (int, error) {
				keys[key]++
				panic("the process dies here")
			}
			live := func(_ context.Context, key string) (int, error) {
				keys[key]++
				return 7, nil
			}
			require.Panics(t, func() { _, _ = job.Once(attempt(t, db, n, 1, 0), "charge", die, options) })
			_, err := job.Once(attempt(t, db, n, 2, 0), "charge", live, options)
			require.ErrorIs(t, err, job.ErrEffectHeld, "the claim is live until its lease is over")
			lapse(t, db, job.EffectClaim{Effect: newEffect(n), Fence: effect(t, db, newEffect(n), t).Fence})

			got, err := job.Once(attempt(t, db, n, 3, 0), "charge", live, options)
			if options.Downstream {
				require.NoError(t, err)
				require.Equal(t, 7, got)
				require.Equal(t, map[string]int{newEffect(n).DownstreamKey(): 2}, keys, "the same key, so the system called acts once")
				continue
			}
			class, _ := job.Classify(err, nil)
			require.Equal(t, job.ClassUnknownOutcome, class)
			require.Equal(t, map[string]int{newEffect(n).DownstreamKey(): 1}, keys)
			require.NoError(t, db.Reconcile(t.Context(), job.Settlement{Effect: newEffect(n), Happened: true, Result: []byte(`9`)}))
			got, err = job.Once(attempt(t, db, n, 1, 1), "charge", live, options)
			require.NoError(t, err)
			require.Equal(t, 9, got)
		}
	})
	t.Run("StaleHolderIsFenced", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		options := job.OnceOptions{Downstream: true}
		_, err := job.Once(attempt(t, db, 1, 1, 0), "charge", func(context.Context, string) (int, error) {
			mine := job.EffectClaim{Effect: newEffect(1), Fence: effect(t, db, newEffect(1), t).Fence}
			lapse(t, db, mine) // frozen past its lease, while another attempt commits
			got, err := job.Once(attempt(t, db, 1, 2, 0), "charge", func(context.Context, string) (int, error) { return 2, nil }, options)
			require.NoError(t, err)
			require.Equal(t, 2, got)
			return 1, nil
		}, options)
		require.ErrorIs(t, err, job.ErrFenced)
		require.JSONEq(t, `2`, string(effect(t, db, newEffect(1), t).Result))
	})
	t.Run("ErrorFreesTheEffect", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		refusal := errors.New("503")
		_, err := job.Once(attempt(t, db, 1, 1, 0), "charge", func(context.Context, string) (int, error) { return 0, refusal })
		require.ErrorIs(t, err, refusal)
		got, err := job.Once(attempt(t, db, 1, 2, 0), "charge", func(context.Context, string) (int, error) { return 5, nil })
		require.NoError(t, err)
		require.Equal(t, 5, got)
	})
	t.Run("LongCallIsRenewed", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		ctx := job.WithLedger(attempt(t, db, 1, 1, 0), db, job.EffectScope{Namespace: "default", Lease: 300 * time.Millisecond})
		_, err := job.Once(ctx, "charge", func(context.Context, string) (int, error) {
			first := *effect(t, db, newEffect(1), t).ClaimExpires
			require.Eventually(t, func() bool { return effect(t, db, newEffect(1), t).ClaimExpires.After(first) }, 10*time.Second, 5*time.Millisecond)
			return 1, nil
		})
		require.NoError(t, err)
	})
}
