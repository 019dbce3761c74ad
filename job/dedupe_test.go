package job_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestOnceForKey(t *testing.T) {
	t.Parallel()
	receipt := func() (json.RawMessage, error) { return json.RawMessage(`"r-1"`), nil }
	never := func() (json.RawMessage, error) { panic("called") }

	t.Run("ProcessedAndRecorded", func(t *testing.T) {
		t.Parallel()
		ledger := &fakeLedger{}
		ctx, _ := effectContext(t, ledger)
		kept, already, err := job.OnceForKey(ctx, receipt)
		require.NoError(t, err)
		require.False(t, already)
		require.JSONEq(t, `"r-1"`, string(kept))
		require.Equal(t, []json.RawMessage{json.RawMessage(`"r-1"`)}, ledger.results)
		require.Equal(t, job.EffectJob, ledger.claims[0].Effect.Name)
		require.True(t, ledger.claims[0].Downstream, "a lapsed claim is never unknown: the handler runs again")
		require.Equal(t, time.Microsecond, ledger.claims[0].Lease, "it holds nobody up")
		require.Zero(t, ledger.renewals)
	})
	t.Run("ProcessedBefore", func(t *testing.T) {
		t.Parallel()
		for _, result := range []json.RawMessage{json.RawMessage(`7`), nil} {
			ctx, seen := effectContext(t, &fakeLedger{granted: job.Claimed{Done: true, Result: result}})
			kept, already, err := job.OnceForKey(ctx, never)
			require.NoError(t, err)
			require.True(t, already)
			require.Equal(t, result, kept)
			require.Equal(t, []job.EffectEvent{job.EffectWasDeduplicated}, seen.events)
		}
	})
	t.Run("FailedIsNotProcessed", func(t *testing.T) {
		t.Parallel()
		ledger := &fakeLedger{}
		ctx, _ := effectContext(t, ledger)
		broken := errors.New("503")
		_, already, err := job.OnceForKey(ctx, func() (json.RawMessage, error) { return nil, broken })
		require.Equal(t, broken, err)
		require.False(t, already)
		require.Empty(t, ledger.results)
		require.Empty(t, ledger.released)
	})
	t.Run("StaleAttemptRecordsNothing", func(t *testing.T) {
		t.Parallel()
		ctx, seen := effectContext(t, &fakeLedger{complete: func(int) error { return fmt.Errorf("x: %w", job.ErrFenced) }})
		kept, _, err := job.OnceForKey(ctx, receipt)
		require.ErrorIs(t, err, job.ErrFenced)
		require.Equal(t, job.ClassTransient, classOf(err))
		require.Nil(t, kept)
		require.Equal(t, []job.EffectEvent{job.EffectWasFenced}, seen.events)
	})
	t.Run("LedgerDown", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, _ := effectContext(t, &fakeLedger{claimErr: func(int) error { return errors.New("connection refused") }})
			_, _, err := job.OnceForKey(ctx, never)
			require.ErrorIs(t, err, job.ErrLedgerUnavailable)
			require.Equal(t, job.ClassDependencyDown, classOf(err))
		})
	})
	t.Run("WithoutLedger", func(t *testing.T) {
		t.Parallel()
		_, _, err := job.OnceForKey(t.Context(), never)
		require.ErrorIs(t, err, job.ErrLedgerUnavailable)
	})
}

// A handler cannot take the row that stands for its job, nor can an operator settle it.
func TestReservedEffectNames(t *testing.T) {
	t.Parallel()
	ledger := &fakeLedger{}
	ctx, _ := effectContext(t, ledger)
	_, err := job.Once(ctx, job.EffectJob, ok)
	require.ErrorIs(t, err, job.ErrInvalidEffect)
	require.Equal(t, job.ClassHandlerDefect, classOf(err))
	require.Empty(t, ledger.claims)
	r := job.Request{Actor: "ada", Reason: "r", Effect: job.EffectJob, Happened: new(false)}
	require.ErrorContains(t, r.Validate(job.RequestReconcile), `names that begin with "redrive." are redrive's own`)
	require.NoError(t, job.EffectID{Job: newEffectID().Job, Name: job.EffectJob}.Validate())
}
