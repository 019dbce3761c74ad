package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

func testLedger(t *testing.T, open func(*testing.T) *store.DB) {
	topics := map[string]func(*testing.T, func(*testing.T) *store.DB){
		"Claim": testClaim, "Complete": testComplete, "Release": testRelease, "Reconcile": testReconcile, "Purge": testPurge,
		"Once": testOnce, "Interleavings": testInterleavings,
	}
	for name, topic := range topics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic(t, open)
		})
	}
}

// newEffect is an effect of job number n.
func newEffect(n int) job.EffectID {
	return job.EffectID{
		Namespace: "default", Job: job.KeyID{Type: "email.send", Key: job.Key(fmt.Sprintf("order-%d", n))}, Name: "charge",
	}
}

func newClaim(n int, holder string) job.ClaimRequest {
	return job.ClaimRequest{Effect: newEffect(n), Holder: holder, Lease: time.Hour, KeyTTL: 48 * time.Hour}
}

func claim(t *testing.T, db *store.DB, r job.ClaimRequest) job.EffectClaim {
	t.Helper()
	got, err := db.Claim(t.Context(), r)
	require.NoError(t, err)
	require.False(t, got.Done)
	return got.Claim
}

func effect(t require.TestingT, db *store.DB, id job.EffectID, ctx testingContext) job.EffectRecord {
	got, err := db.Effect(ctx.Context(), id)
	require.NoError(t, err)
	return got
}

// lapse makes a claim lapse by the database's clock, which has a resolution of a millisecond at worst.
func lapse(t *testing.T, db *store.DB, c job.EffectClaim) {
	t.Helper()
	require.NoError(t, db.Renew(t.Context(), c, time.Microsecond))
	require.Eventually(t, func() bool { return effect(t, db, c.Effect, t).Lapsed }, 5*time.Second, time.Millisecond)
}

func testClaim(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("GrantedThenHeldByOthersOnly", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		first := claim(t, db, newClaim(1, "a"))
		require.Positive(t, first.Fence)
		require.Equal(t, first, claim(t, db, newClaim(1, "a")), "the first answer may have been lost")
		_, err := db.Claim(t.Context(), newClaim(1, "b"))
		require.ErrorIs(t, err, job.ErrEffectHeld)
		var held *job.EffectHeldError
		require.ErrorAs(t, err, &held)
		require.Greater(t, held.For, 50*time.Minute)
		require.LessOrEqual(t, held.For, time.Hour)
		require.Contains(t, err.Error(), "claim effect email.send:order-1 charge: ")

		got := effect(t, db, newEffect(1), t)
		require.Equal(t, job.EffectClaimed, got.State)
		require.Equal(t, "a", got.Holder)
		require.Equal(t, newEffect(1), got.Effect)
		require.WithinDuration(t, time.Now(), got.CreatedAt, time.Minute, "the database's clock, in microseconds")
		require.WithinDuration(t, got.CreatedAt.Add(48*time.Hour), got.ExpiresAt, time.Minute)
		all, err := db.Effects(t.Context(), "default", newEffect(1).Job)
		require.NoError(t, err)
		require.Equal(t, []job.EffectRecord{got}, all)
	})
	t.Run("OthersAreOthers", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		claim(t, db, newClaim(1, "a"))
		for i, change := range []func(*job.EffectID){
			func(e *job.EffectID) { e.Namespace = "other" },
			func(e *job.EffectID) { e.Job.Type = "email.other" },
			func(e *job.EffectID) { e.Job.Key = "other" },
			func(e *job.EffectID) { e.Name = "other" },
		} {
			r := newClaim(1, fmt.Sprint("b", i))
			change(&r.Effect)
			claim(t, db, r)
		}
		all, err := db.Effects(t.Context(), "default", newEffect(1).Job)
		require.NoError(t, err)
		require.Len(t, all, 2)
	})
	t.Run("OneOfManyAtOnce", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		granted := make([]bool, 20)
		require.NoError(t, together(len(granted), func(i int) error {
			_, err := db.Claim(t.Context(), newClaim(1, fmt.Sprint(i)))
			if granted[i] = err == nil; granted[i] {
				return nil
			}
			require.ErrorIs(t, err, job.ErrEffectHeld)
			return nil
		}))
		n := 0
		for _, yes := range granted {
			if yes {
				n++
			}
		}
		require.Equal(t, 1, n)
	})
	t.Run("LapsedIsUnknown", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		first := claim(t, db, newClaim(1, "a"))
		lapse(t, db, first)
		for range 2 {
			_, err := db.Claim(t.Context(), newClaim(1, "b"))
			require.ErrorIs(t, err, job.ErrEffectUnknown)
		}
		require.Equal(t, job.EffectUnknown, effect(t, db, newEffect(1), t).State)
		require.ErrorIs(t, db.Renew(t.Context(), first, time.Hour), job.ErrFenced)
	})
	t.Run("LapsedIsTakenOverWhenBothAreDeduplicated", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for n, declared := range [][2]bool{{true, true}, {true, false}, {false, true}} {
			first, second := newClaim(n, "a"), newClaim(n, "b")
			first.Downstream, second.Downstream = declared[0], declared[1]
			stale := claim(t, db, first)
			lapse(t, db, stale)
			got, err := db.Claim(t.Context(), second)
			if declared != [2]bool{true, true} {
				require.ErrorIs(t, err, job.ErrEffectUnknown, "%v", declared)
				continue
			}
			require.NoError(t, err)
			require.Greater(t, got.Claim.Fence, stale.Fence)
			require.ErrorIs(t, db.Renew(t.Context(), stale, time.Hour), job.ErrFenced)
			require.ErrorIs(t, db.Complete(t.Context(), stale, nil), job.ErrFenced)
			require.ErrorIs(t, db.Release(t.Context(), stale, job.EffectFree), job.ErrFenced)
			require.NoError(t, db.Complete(t.Context(), got.Claim, json.RawMessage(`1`)))
			require.ErrorIs(t, db.Complete(t.Context(), stale, json.RawMessage(`2`)), job.ErrFenced)
			require.JSONEq(t, `1`, string(effect(t, db, first.Effect, t).Result))
		}
	})
	t.Run("LapsedMayBeRenewedUntilSomebodyAsks", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		first := claim(t, db, newClaim(1, "a"))
		lapse(t, db, first)
		require.NoError(t, db.Renew(t.Context(), first, time.Hour))
		_, err := db.Claim(t.Context(), newClaim(1, "b"))
		require.ErrorIs(t, err, job.ErrEffectHeld)
	})
	t.Run("Invalid", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for _, change := range []func(*job.ClaimRequest){
			func(r *job.ClaimRequest) { r.Effect.Name = "Charge" },
			func(r *job.ClaimRequest) { r.Effect.Job.Key = "" },
			func(r *job.ClaimRequest) { r.Holder = "" },
			func(r *job.ClaimRequest) { r.Lease = 0 },
			func(r *job.ClaimRequest) { r.KeyTTL = time.Minute },
		} {
			r := newClaim(1, "a")
			change(&r)
			_, err := db.Claim(t.Context(), r)
			require.ErrorIs(t, err, job.ErrInvalidEffect)
		}
		_, err := db.Effect(t.Context(), newEffect(1))
		require.ErrorIs(t, err, job.ErrNotFound)
	})
}

func testComplete(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("ResultIsReturned", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		mine := claim(t, db, newClaim(1, "a"))
		result := json.RawMessage("{\"id\" :  1.0, \"text\":\"<b>\\u0000é\u2028\"}")
		require.NoError(t, db.Complete(t.Context(), mine, result))
		require.NoError(t, db.Complete(t.Context(), mine, json.RawMessage(`"other"`)), "again changes nothing")
		require.NoError(t, db.Release(t.Context(), mine, job.EffectUnknown), "nor does this")
		require.ErrorIs(t, db.Renew(t.Context(), mine, time.Hour), job.ErrFenced)
		for _, holder := range []string{"a", "b"} {
			got, err := db.Claim(t.Context(), newClaim(1, holder))
			require.NoError(t, err)
			require.True(t, got.Done)
			require.Equal(t, string(result), string(got.Result), "byte by byte")
		}
	})
	t.Run("LateAndTrue", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		mine := claim(t, db, newClaim(1, "a"))
		lapse(t, db, mine)
		_, err := db.Claim(t.Context(), newClaim(1, "b"))
		require.ErrorIs(t, err, job.ErrEffectUnknown)
		require.NoError(t, db.Complete(t.Context(), mine, json.RawMessage(`1`)), "its holder is who knows")
		got, err := db.Claim(t.Context(), newClaim(1, "b"))
		require.NoError(t, err)
		require.True(t, got.Done)
	})
	t.Run("WithoutResult", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		require.NoError(t, db.Complete(t.Context(), claim(t, db, newClaim(1, "a")), nil))
		got, err := db.Claim(t.Context(), newClaim(1, "b"))
		require.NoError(t, err)
		require.True(t, got.Done)
		require.Nil(t, got.Result)
		require.NoError(t, db.Reconcile(t.Context(), job.Settlement{Effect: newEffect(1), Happened: true, Result: json.RawMessage(`7`)}))
		require.JSONEq(t, `7`, string(effect(t, db, newEffect(1), t).Result))
	})
	t.Run("Oversized", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		mine := claim(t, db, newClaim(1, "a"))
		largest := json.RawMessage(`"` + strings.Repeat("x", job.MaxEffectResultBytes-2) + `"`)
		err := db.Complete(t.Context(), mine, append(largest[:len(largest):len(largest)], ' '))
		require.ErrorIs(t, err, job.ErrEffectResult)
		require.ErrorContains(t, err, "it is 65537 bytes, at most 65536 are stored")
		require.ErrorIs(t, db.Complete(t.Context(), mine, json.RawMessage(`{`)), job.ErrEffectResult)
		require.Equal(t, job.EffectClaimed, effect(t, db, newEffect(1), t).State)
		require.NoError(t, db.Complete(t.Context(), mine, largest))
		require.Len(t, effect(t, db, newEffect(1), t).Result, len(largest))
	})
	t.Run("Purged", func(t *testing.T) {
		t.Parallel()
		require.ErrorIs(t, open(t).Complete(t.Context(), job.EffectClaim{Effect: newEffect(1), Fence: 1}, nil), job.ErrFenced)
	})
}

func testRelease(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("FenceRisesOverRelease", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		var before int64
		for i := range 5 {
			mine := claim(t, db, newClaim(1, fmt.Sprint(i)))
			require.Greater(t, mine.Fence, before)
			before = mine.Fence
			for range 2 {
				require.NoError(t, db.Release(t.Context(), mine, job.EffectFree))
			}
			require.Equal(t, job.EffectFree, effect(t, db, newEffect(1), t).State)
			require.ErrorIs(t, db.Renew(t.Context(), mine, time.Hour), job.ErrFenced)
		}
	})
	t.Run("Unknown", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		mine := claim(t, db, newClaim(1, "a"))
		require.NoError(t, db.Release(t.Context(), mine, job.EffectUnknown))
		_, err := db.Claim(t.Context(), newClaim(1, "b"))
		require.ErrorIs(t, err, job.ErrEffectUnknown)
		require.ErrorIs(t, db.Release(t.Context(), mine, job.EffectDone), job.ErrInvalidEffect)
	})
}

func testReconcile(t *testing.T, open func(*testing.T) *store.DB) {
	unknown := func(t *testing.T) (*store.DB, job.EffectClaim) {
		db := open(t)
		mine := claim(t, db, newClaim(1, "a"))
		require.NoError(t, db.Release(t.Context(), mine, job.EffectUnknown))
		return db, mine
	}
	t.Run("Happened", func(t *testing.T) {
		t.Parallel()
		db, _ := unknown(t)
		for range 2 {
			require.NoError(t, db.Reconcile(t.Context(), job.Settlement{Effect: newEffect(1), Happened: true, Result: json.RawMessage(`7`)}))
		}
		got, err := db.Claim(t.Context(), newClaim(1, "b"))
		require.NoError(t, err)
		require.True(t, got.Done)
		require.JSONEq(t, `7`, string(got.Result))
		require.ErrorIs(t, db.Reconcile(t.Context(), job.Settlement{Effect: newEffect(1)}), job.ErrEffectSettled)
	})
	t.Run("DidNotHappen", func(t *testing.T) {
		t.Parallel()
		db, stale := unknown(t)
		settlement := job.Settlement{Effect: newEffect(1), Fence: stale.Fence}
		for range 2 {
			require.NoError(t, db.Reconcile(t.Context(), settlement))
		}
		next := claim(t, db, newClaim(1, "b"))
		require.Greater(t, next.Fence, stale.Fence)
		require.NoError(t, db.Release(t.Context(), next, job.EffectUnknown))
		require.ErrorIs(t, db.Reconcile(t.Context(), settlement), job.ErrFenced, "a late repetition is not about this claim")
		require.Equal(t, job.EffectUnknown, effect(t, db, newEffect(1), t).State)
	})
	t.Run("LapsedBeforeAnybodyAsked", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		mine := claim(t, db, newClaim(1, "a"))
		require.ErrorIs(t, db.Reconcile(t.Context(), job.Settlement{Effect: newEffect(1)}), job.ErrEffectHeld)
		lapse(t, db, mine)
		require.NoError(t, db.Reconcile(t.Context(), job.Settlement{Effect: newEffect(1)}))
		claim(t, db, newClaim(1, "b"))
	})
	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		db, _ := unknown(t)
		require.ErrorIs(t, db.Reconcile(t.Context(), job.Settlement{Effect: newEffect(2)}), job.ErrNotFound)
		bad := job.Settlement{Effect: newEffect(1), Happened: true, Result: json.RawMessage(`nonsense`)}
		require.ErrorIs(t, db.Reconcile(t.Context(), bad), job.ErrEffectResult)
		require.Equal(t, job.EffectUnknown, effect(t, db, newEffect(1), t).State)
	})
}

func testPurge(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("ExpiredOnlyInBatches", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for n := range 7 {
			r := newClaim(n, "a")
			r.Lease, r.KeyTTL = time.Microsecond, time.Microsecond
			require.NoError(t, db.Complete(t.Context(), claim(t, db, r), nil))
		}
		kept := claim(t, db, newClaim(7, "a"))
		require.NoError(t, db.Complete(t.Context(), kept, nil))
		live := newClaim(8, "a")
		live.Lease, live.KeyTTL = time.Microsecond, time.Microsecond
		require.NoError(t, db.Renew(t.Context(), claim(t, db, live), time.Hour))

		n, err := db.PurgeExpired(t.Context(), time.Now().Add(-time.Hour), 3)
		require.NoError(t, err)
		require.Zero(t, n, "before is in the past")
		purged := 0
		require.Eventually(t, func() bool { // until the last one has expired by the database's clock
			n, err := db.PurgeExpired(t.Context(), time.Now().Add(100*time.Hour), 3)
			require.NoError(t, err)
			purged += n
			return purged >= 7
		}, 5*time.Second, time.Millisecond)
		require.Equal(t, 7, purged, "never ahead of the database's clock")
		_, err = db.Effect(t.Context(), newEffect(0))
		require.ErrorIs(t, err, job.ErrNotFound)
		effect(t, db, kept.Effect, t)
		effect(t, db, live.Effect, t)
		_, err = db.PurgeExpired(t.Context(), time.Now(), 0)
		require.ErrorIs(t, err, store.ErrInvalidQuery)
	})
	t.Run("OpenDeadLetterKeepsItsEffects", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		r := newClaim(1, "a")
		r.Lease, r.KeyTTL = time.Microsecond, time.Microsecond
		require.NoError(t, db.Complete(t.Context(), claim(t, db, r), nil))
		letter := newLetter(1, 0)
		letter.ID = job.NewDeadLetterID("default", r.Effect.Job)
		record(t, db, letter)
		require.Eventually(t, func() bool { return effect(t, db, r.Effect, t).ExpiresAt.Before(time.Now().Add(-5 * time.Millisecond)) }, 5*time.Second, time.Millisecond)
		n, err := db.PurgeExpired(t.Context(), time.Now(), 10)
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, db.SaveRequest(t.Context(), job.RequestRecord{
			DeadLetterID: letter.ID, RequestID: "d", Kind: job.RequestDiscard, At: begin(), State: job.StateDiscarded,
		}))
		n, err = db.PurgeExpired(t.Context(), time.Now(), 10)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
	t.Run("FenceRisesOverPurge", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		r := newClaim(1, "a")
		r.Lease, r.KeyTTL = time.Microsecond, time.Microsecond
		stale := claim(t, db, r)
		require.Eventually(t, func() bool {
			n, err := db.PurgeExpired(t.Context(), time.Now().Add(time.Hour), 10)
			require.NoError(t, err)
			return n == 1
		}, 5*time.Second, time.Millisecond)
		next := claim(t, db, newClaim(1, "b"))
		require.Greater(t, next.Fence, stale.Fence)
		require.ErrorIs(t, db.Complete(t.Context(), stale, nil), job.ErrFenced)
	})
}
