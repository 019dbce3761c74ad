package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/redrivehq/redrive/worker"
)

// attic is a ledger that records its purges.
type attic struct {
	at     []time.Time
	before []time.Time
	batch  []int
	answer func(ctx context.Context, n int) (int, error)
}

func (a *attic) PurgeExpired(ctx context.Context, before time.Time, batch int) (int, error) {
	a.at, a.before, a.batch = append(a.at, time.Now()), append(a.before, before), append(a.batch, batch)
	return a.answer(ctx, len(a.at))
}

// In a synctest bubble, time passes when everybody waits.
func TestPurge(t *testing.T) {
	t.Parallel()
	const every = 10 * time.Minute
	run := func(t *testing.T, a *attic, d time.Duration) *observer.ObservedLogs {
		core, logs := observer.New(zap.DebugLevel)
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		worker.RunPurge(ctx, a, every, func() time.Time { return time.Now().Add(-time.Hour) }, zap.New(core))
		return logs
	}
	t.Run("SpreadInBoundedBatches", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			a := &attic{answer: func(context.Context, int) (int, error) { return 0, nil }}
			began := time.Now()
			logs := run(t, a, 24*time.Hour)
			require.InDelta(t, 144, len(a.at), 25)
			waits := map[time.Duration]bool{}
			require.LessOrEqual(t, a.at[0].Sub(began), every)
			for i := 1; i < len(a.at); i++ {
				wait := a.at[i].Sub(a.at[i-1])
				require.GreaterOrEqual(t, wait, every/2)
				require.LessOrEqual(t, wait, every*3/2)
				waits[wait] = true
			}
			require.Greater(t, len(waits), 10, "the turns of workers that started together drift apart")
			for i, before := range a.before {
				require.Equal(t, a.at[i].Add(-time.Hour), before, "by the clock that it was given")
				require.Equal(t, 500, a.batch[i])
			}
			require.Zero(t, logs.Len(), "nothing was purged, and nothing is said")
		})
	})
	t.Run("SaysHowManyAndGoesOnAfterTrouble", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			a := &attic{answer: func(_ context.Context, n int) (int, error) {
				if n == 1 {
					return 3, errors.New("connection refused")
				}
				return 7, nil
			}}
			logs := run(t, a, time.Hour)
			require.Greater(t, len(a.at), 2)
			counts := logs.FilterMessage("expired effects purged").All()
			require.EqualValues(t, 3, counts[0].ContextMap()["count"])
			require.EqualValues(t, 7, counts[1].ContextMap()["count"])
			require.Len(t, counts, len(a.at))
			require.Equal(t, 1, logs.FilterMessage("expired effects not purged").Len())
		})
	})
	t.Run("EndsInTheMiddleOfABatch", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			a := &attic{answer: func(ctx context.Context, _ int) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}}
			logs := run(t, a, time.Hour)
			require.Len(t, a.at, 1)
			require.Zero(t, logs.Len(), "a stop is no trouble")
		})
	})
}
