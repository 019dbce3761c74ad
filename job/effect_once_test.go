package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// fakeLedger holds one effect. It records calls, and answers as it is told; store/storetest tests Once on real ones.
type fakeLedger struct {
	mu       sync.Mutex
	claims   []job.ClaimRequest
	results  []json.RawMessage
	released []job.EffectState
	renewals int
	granted  job.Claimed
	claimErr func(n int) error // of the n-th claim, from 1
	renewErr error
	complete func(n int) error // the n-th, from 1
}

func (l *fakeLedger) Claim(_ context.Context, r job.ClaimRequest) (job.Claimed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claims = append(l.claims, r)
	if l.claimErr != nil {
		if err := l.claimErr(len(l.claims)); err != nil {
			return job.Claimed{}, err
		}
	}
	return l.granted, nil
}

func (l *fakeLedger) Renew(context.Context, job.EffectClaim, time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewals++
	return l.renewErr
}

func (l *fakeLedger) Complete(ctx context.Context, _ job.EffectClaim, result json.RawMessage) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results = append(l.results, result)
	if l.complete != nil {
		return l.complete(len(l.results))
	}
	return nil
}

func (l *fakeLedger) Release(ctx context.Context, _ job.EffectClaim, to job.EffectState) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.released = append(l.released, to)
	return nil
}

type observed struct {
	mu     sync.Mutex
	events []job.EffectEvent
}

func (o *observed) observe(_ job.EffectID, e job.EffectEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, e)
}

func effectContext(t *testing.T, l job.Ledger) (context.Context, *observed) {
	seen := &observed{}
	ctx := job.WithAttempt(t.Context(), job.AttemptInfo{ID: newEffectID().Job, Number: 1})
	return job.WithLedger(ctx, l, job.EffectScope{Namespace: "default", Holder: "w1/1", Observe: seen.observe}), seen
}

func classOf(err error) job.Class {
	class, _ := job.Classify(err, nil)
	return class
}

func ok(context.Context, string) (int, error) { return 7, nil }

func TestOnce(t *testing.T) {
	t.Parallel()

	t.Run("AppliedAndRecorded", func(t *testing.T) {
		t.Parallel()
		ledger := &fakeLedger{}
		ctx, seen := effectContext(t, ledger)
		got, err := job.Once(ctx, "charge", func(_ context.Context, key string) (string, error) { return key, nil }, job.OnceOptions{Downstream: true})
		require.NoError(t, err)
		require.Equal(t, newEffectID().DownstreamKey(), got)
		require.Equal(t, `"`+got+`"`, string(ledger.results[0]))
		require.Equal(t, newEffectID(), ledger.claims[0].Effect)
		require.True(t, ledger.claims[0].Downstream)
		require.Equal(t, 30*time.Second, ledger.claims[0].Lease)
		require.Equal(t, 2400*time.Hour, ledger.claims[0].KeyTTL)
		require.True(t, strings.HasPrefix(ledger.claims[0].Holder, "w1/1#"))
		require.Equal(t, []job.EffectEvent{job.EffectWasApplied}, seen.events)
	})
	t.Run("StoredResultReturned", func(t *testing.T) {
		t.Parallel()
		ctx, seen := effectContext(t, &fakeLedger{granted: job.Claimed{Done: true, Result: json.RawMessage(`9`)}})
		got, err := job.Once(ctx, "charge", func(context.Context, string) (int, error) { panic("called again") })
		require.NoError(t, err)
		require.Equal(t, 9, got)
		require.Equal(t, []job.EffectEvent{job.EffectWasDeduplicated}, seen.events)
	})
	t.Run("StoredResultUnreadable", func(t *testing.T) {
		t.Parallel()
		for _, stored := range []json.RawMessage{nil, json.RawMessage(`"text"`)} {
			ctx, _ := effectContext(t, &fakeLedger{granted: job.Claimed{Done: true, Result: stored}})
			_, err := job.Once(ctx, "charge", ok)
			require.ErrorIs(t, err, job.ErrEffectResult)
			require.Equal(t, job.ClassHandlerDefect, classOf(err))
			require.NotContains(t, err.Error(), "text")
		}
	})
	t.Run("ResultNotStorable", func(t *testing.T) {
		t.Parallel()
		for want, result := range map[string]any{
			"it is 65539 bytes, at most 65536 are stored": strings.Repeat("x", job.MaxEffectResultBytes+1),
			"chan int does not encode to JSON":            make(chan int),
		} {
			ledger := &fakeLedger{}
			ctx, _ := effectContext(t, ledger)
			_, err := job.Once(ctx, "charge", func(context.Context, string) (any, error) { return result, nil })
			require.ErrorIs(t, err, job.ErrEffectResult)
			require.ErrorContains(t, err, want)
			require.Equal(t, job.ClassHandlerDefect, classOf(err))
			require.Equal(t, []json.RawMessage{nil}, ledger.results, "it happened, and must not happen again")
			require.Empty(t, ledger.released)
		}
	})
	t.Run("Fenced", func(t *testing.T) {
		t.Parallel()
		for _, downstream := range []bool{false, true} {
			ctx, seen := effectContext(t, &fakeLedger{complete: func(int) error { return fmt.Errorf("x: %w", job.ErrFenced) }})
			got, err := job.Once(ctx, "charge", ok, job.OnceOptions{Downstream: downstream})
			require.ErrorIs(t, err, job.ErrFenced)
			require.Equal(t, job.ClassTransient, classOf(err))
			require.Zero(t, got)
			want := []job.EffectEvent{job.EffectWasFenced}
			if !downstream {
				want = append(want, job.EffectWasDuplicated)
			}
			require.Equal(t, want, seen.events)
		}
	})
	t.Run("UnknownParks", func(t *testing.T) {
		t.Parallel()
		ctx, seen := effectContext(t, &fakeLedger{claimErr: func(int) error { return job.ErrEffectUnknown }})
		_, err := job.Once(ctx, "charge", ok)
		require.Equal(t, job.ClassUnknownOutcome, classOf(err))
		require.Equal(t, []job.EffectEvent{job.EffectWasUnknown}, seen.events)
	})
	t.Run("PanicLeavesTheClaim", func(t *testing.T) {
		t.Parallel()
		ledger := &fakeLedger{}
		ctx, _ := effectContext(t, ledger)
		require.PanicsWithValue(t, "boom", func() {
			_, _ = job.Once(ctx, "charge", func(context.Context, string) (int, error) { panic("boom") })
		})
		require.Empty(t, ledger.released)
		require.Empty(t, ledger.results)
	})
	t.Run("WithoutLedgerOrName", func(t *testing.T) {
		t.Parallel()
		_, err := job.Once(t.Context(), "charge", ok)
		require.ErrorIs(t, err, job.ErrLedgerUnavailable)
		require.Equal(t, job.ClassDependencyDown, classOf(err))
		_, err = job.Once(job.WithLedger(t.Context(), &fakeLedger{}, job.EffectScope{}), "charge", ok)
		require.ErrorIs(t, err, job.ErrLedgerUnavailable, "no attempt")
		ctx, _ := effectContext(t, &fakeLedger{})
		_, err = job.Once(ctx, "No!", ok)
		require.ErrorIs(t, err, job.ErrInvalidEffect)
		require.Equal(t, job.ClassHandlerDefect, classOf(err))
		_, err = job.Once(ctx, "charge", ok, job.OnceOptions{}, job.OnceOptions{})
		require.ErrorIs(t, err, job.ErrInvalidEffect)
	})
}

type timeout struct{ error }

func (timeout) Timeout() bool { return true }

func TestOnceErrorsOfTheEffect(t *testing.T) {
	t.Parallel()
	plain := errors.New("503")
	for name, c := range map[string]struct {
		give    error
		unknown bool
	}{
		"Unclassified":    {plain, false},
		"Rejected":        {job.Rejected(plain), false},
		"Throttled":       {job.Throttled(plain, time.Second), false},
		"UnknownOutcome":  {fmt.Errorf("x: %w", job.UnknownOutcome(plain)), true},
		"TimeoutClass":    {&job.Error{Class: job.ClassTimeout, Err: plain}, true},
		"Canceled":        {fmt.Errorf("post: %w", context.Canceled), true},
		"Deadline":        {job.Transient(errors.Join(plain, context.DeadlineExceeded)), true},
		"NetworkTimedOut": {fmt.Errorf("post: %w", timeout{plain}), true},
		"StorageRefusal":  {fmt.Errorf("another ledger: %w", job.ErrEffectResult), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, downstream := range []bool{false, true} {
				ledger := &fakeLedger{}
				ctx, seen := effectContext(t, ledger)
				_, err := job.Once(ctx, "charge", func(context.Context, string) (int, error) { return 0, c.give }, job.OnceOptions{Downstream: downstream})
				require.Error(t, err)
				require.Empty(t, ledger.results)
				if c.unknown && !downstream {
					require.Equal(t, []job.EffectState{job.EffectUnknown}, ledger.released)
					require.Equal(t, job.ClassUnknownOutcome, classOf(err))
					require.Equal(t, []job.EffectEvent{job.EffectWasUnknown}, seen.events)
					continue
				}
				require.Equal(t, []job.EffectState{job.EffectFree}, ledger.released)
				require.NotEqual(t, job.ClassUnknownOutcome, classOf(err), "a system that deduplicates is asked again")
				if !c.unknown {
					require.Equal(t, c.give, err)
				}
			}
		})
	}
}

// In a synctest bubble, time passes when everybody waits.
func TestOnceAndTime(t *testing.T) {
	t.Parallel()
	held := &job.EffectHeldError{Effect: newEffectID(), For: time.Minute}

	t.Run("HeldAtOnce", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, seen := effectContext(t, &fakeLedger{claimErr: func(int) error { return held }})
			begin := time.Now()
			_, err := job.Once(ctx, "charge", ok)
			require.ErrorIs(t, err, job.ErrEffectHeld)
			class, after := job.Classify(err, nil)
			require.Equal(t, job.ClassTransient, class)
			require.Equal(t, time.Minute, after)
			require.Zero(t, time.Since(begin))
			require.Equal(t, []job.EffectEvent{job.EffectWasHeld}, seen.events)
		})
	})
	t.Run("WaitsForTheHolder", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			ledger := &fakeLedger{claimErr: func(int) error {
				if time.Since(begin) < 5*time.Second {
					return held
				}
				return nil
			}}
			ctx, _ := effectContext(t, ledger)
			_, err := job.Once(ctx, "charge", ok, job.OnceOptions{Wait: 4 * time.Second})
			require.ErrorIs(t, err, job.ErrEffectHeld)
			require.Equal(t, 4*time.Second, time.Since(begin), "no longer than asked for")
			got, err := job.Once(ctx, "charge", ok, job.OnceOptions{Wait: time.Minute})
			require.NoError(t, err)
			require.Equal(t, 7, got)
			require.Less(t, len(ledger.claims), 20)
		})
	})
	t.Run("UnansweredClaimIsRepeatedUnderTheSameHolder", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			down := errors.New("connection lost")
			ledger := &fakeLedger{claimErr: func(n int) error {
				if n < 3 {
					return down
				}
				return nil
			}}
			ctx, _ := effectContext(t, ledger)
			_, err := job.Once(ctx, "charge", ok)
			require.NoError(t, err)
			require.Equal(t, ledger.claims[0], ledger.claims[2])
			_, err = job.Once(ctx, "charge", ok)
			require.NoError(t, err)
			require.NotEqual(t, ledger.claims[2].Holder, ledger.claims[3].Holder, "two calls are two holders")

			ctx, _ = effectContext(t, &fakeLedger{claimErr: func(int) error { return down }})
			_, err = job.Once(ctx, "charge", func(context.Context, string) (int, error) { panic("called") })
			require.ErrorIs(t, err, job.ErrLedgerUnavailable)
			require.Equal(t, job.ClassDependencyDown, classOf(err))
		})
	})
	t.Run("RenewedWhileItRuns", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ledger := &fakeLedger{}
			ctx, _ := effectContext(t, ledger)
			_, err := job.Once(ctx, "charge", func(context.Context, string) (int, error) {
				time.Sleep(5 * time.Minute)
				return 1, nil
			})
			require.NoError(t, err)
			require.InDelta(t, 30, ledger.renewals, 1)
		})
	})
	t.Run("FencedRenewalEndsTheCall", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, _ := effectContext(t, &fakeLedger{renewErr: job.ErrFenced})
			_, err := job.Once(ctx, "charge", func(ctx context.Context, _ string) (int, error) {
				<-ctx.Done()
				require.ErrorIs(t, context.Cause(ctx), job.ErrFenced)
				return 0, ctx.Err()
			})
			require.Equal(t, job.ClassUnknownOutcome, classOf(err))
		})
	})
	t.Run("FrozenBeforeTheCall", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ledger := &fakeLedger{renewErr: job.ErrFenced, claimErr: func(int) error {
				time.Sleep(time.Minute) // the answer is read after the lease is over
				return nil
			}}
			ctx, seen := effectContext(t, ledger)
			_, err := job.Once(ctx, "charge", func(context.Context, string) (int, error) { panic("called") })
			require.ErrorIs(t, err, job.ErrFenced)
			require.Equal(t, []job.EffectEvent{job.EffectWasFenced}, seen.events)
		})
	})
	t.Run("RecordIsRepeatedThroughAnOutage", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			ledger := &fakeLedger{complete: func(int) error {
				if time.Since(begin) < 3*time.Minute {
					return errors.New("connection refused")
				}
				return nil
			}}
			ctx, seen := effectContext(t, ledger)
			got, err := job.Once(ctx, "charge", ok)
			require.NoError(t, err)
			require.Equal(t, 7, got)
			require.Positive(t, ledger.renewals, "still held meanwhile")
			require.Equal(t, []job.EffectEvent{job.EffectWasApplied}, seen.events)
		})
	})
	t.Run("RecordedAfterTheAttemptEnded", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			for _, heals := range []bool{true, false} {
				for _, downstream := range []bool{true, false} {
					ledger := &fakeLedger{complete: func(n int) error {
						if heals && n == 3 {
							return nil
						}
						return errors.New("connection refused")
					}}
					ctx, _ := effectContext(t, ledger)
					ctx, cancel := context.WithCancel(ctx)
					begin := time.Now()
					_, err := job.Once(ctx, "charge", func(context.Context, string) (int, error) {
						cancel()
						return 7, nil
					}, job.OnceOptions{Downstream: downstream})
					switch {
					case heals:
						require.NoError(t, err)
					case downstream:
						require.Equal(t, job.ClassDependencyDown, classOf(err))
						require.ErrorIs(t, err, job.ErrLedgerUnavailable)
					default:
						require.Equal(t, job.ClassUnknownOutcome, classOf(err))
					}
					require.LessOrEqual(t, time.Since(begin), 6*time.Second)
				}
			}
		})
	})
}
