package job_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
)

func TestBackoffDelaySpreads(t *testing.T) {
	t.Parallel()
	const draws = 10_000
	b := job.Backoff{Base: time.Second, Cap: time.Hour}
	random := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 10; n++ {
		middle := float64(b.Base) * math.Pow(2, float64(n-1))
		lowest, highest, buckets := math.Inf(1), 0.0, [10]int{}
		for range draws / 10 {
			share := float64(b.Delay(n, random.Float64())) / middle
			lowest, highest = min(lowest, share), max(highest, share)
			buckets[min(9, int((share-0.8)/0.04))]++
		}
		require.GreaterOrEqual(t, lowest, 0.8-1e-6, "Delay(%d, …)", n)
		require.LessOrEqual(t, highest, 1.2+1e-6, "Delay(%d, …)", n)
		for i, count := range buckets {
			require.InDelta(t, draws/100, count, draws/200, "Delay(%d, …): bucket %d of %v", n, i, buckets)
		}
	}
}

// wholeRange holds everyday durations and those at the end of the type, where arithmetic overflows.
func wholeRange(from time.Duration) *rapid.Generator[time.Duration] {
	pick := func(low, high int64) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.Int64Range(low, high), func(n int64) time.Duration { return time.Duration(n) })
	}
	return rapid.OneOf(pick(int64(from), int64(48*time.Hour)), pick(int64(from), math.MaxInt64), pick(math.MaxInt64-1000, math.MaxInt64))
}

func TestBackoffDelayIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := job.Backoff{Base: wholeRange(time.Millisecond).Draw(t, "base"), Cap: wholeRange(time.Millisecond).Draw(t, "cap")}
		n := rapid.OneOf(rapid.IntRange(-1, 70), rapid.Int()).Draw(t, "n")
		wait := b.Delay(n, rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "random"))
		require.GreaterOrEqual(t, wait, min(b.Cap, b.Base*4/5, time.Millisecond))
		require.LessOrEqual(t, wait, b.Cap)
		require.GreaterOrEqual(t, wait, time.Millisecond, "Temporal reads zero as unset")
	})
}

func TestThrottleDelay(t *testing.T) {
	t.Parallel()
	t.Run("NeverBelowRetryAfter", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			after := wholeRange(1).Draw(t, "retryAfter")
			wait := job.Backoff{}.WithDefaults().ThrottleDelay(after, rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "random"))
			require.GreaterOrEqual(t, wait, after)
			require.LessOrEqual(t, float64(wait), float64(after)*1.2+float64(2*time.Millisecond))
		})
	})
	t.Run("CapDoesNotShortenIt", func(t *testing.T) {
		t.Parallel()
		wait := job.Backoff{Base: time.Second, Cap: time.Minute}.ThrottleDelay(time.Hour, 0)
		require.GreaterOrEqual(t, wait, time.Hour)
	})
	t.Run("FirstBackoffWithoutRetryAfter", func(t *testing.T) {
		t.Parallel()
		b := job.Backoff{}.WithDefaults()
		for _, none := range []time.Duration{0, -time.Second, math.MinInt64} {
			require.Equal(t, b.Delay(1, 0.3), b.ThrottleDelay(none, 0.3))
		}
	})
}

func TestReplayWait(t *testing.T) {
	t.Parallel()
	t.Run("DoublesToMaxWait", func(t *testing.T) {
		t.Parallel()
		p := job.ReplayPolicy{Max: 5, MinWait: time.Minute, MaxWait: 10 * time.Minute}
		for n, want := range map[int]time.Duration{0: 1, 1: 1, 2: 2, 3: 4, 4: 8, 5: 10, 6: 10, 1000: 10} {
			require.Equal(t, want*time.Minute, p.Wait(n), "Wait(%d)", n)
		}
	})
	t.Run("NeverShrinksNorPassesMaxWait", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			p := job.ReplayPolicy{MinWait: wholeRange(1).Draw(t, "min"), MaxWait: wholeRange(1).Draw(t, "max")}
			n := rapid.IntRange(1, 100).Draw(t, "n")
			require.LessOrEqual(t, p.Wait(n), p.MaxWait)
			require.GreaterOrEqual(t, p.Wait(n), min(p.MinWait, p.MaxWait))
			require.GreaterOrEqual(t, p.Wait(n+1), p.Wait(n))
		})
	})
}
