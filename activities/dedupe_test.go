package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// ledgerRow is a ledger with one row; store/storetest tests real ones.
type ledgerRow struct {
	mu      sync.Mutex
	claims  []job.ClaimRequest
	done    bool
	result  json.RawMessage
	refusal error // of Complete
}

func (l *ledgerRow) Claim(_ context.Context, r job.ClaimRequest) (job.Claimed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claims = append(l.claims, r)
	return job.Claimed{Claim: job.EffectClaim{Effect: r.Effect, Fence: int64(len(l.claims))}, Done: l.done, Result: l.result}, nil
}

func (l *ledgerRow) Complete(_ context.Context, _ job.EffectClaim, result json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refusal == nil {
		l.done, l.result = true, result
	}
	return l.refusal
}

func (l *ledgerRow) Renew(context.Context, job.EffectClaim, time.Duration) error     { return nil }
func (l *ledgerRow) Release(context.Context, job.EffectClaim, job.EffectState) error { return nil }

// reversing stands for a payload codec: what it encodes cannot be read.
type reversing struct{}

func (reversing) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		out[i] = &commonpb.Payload{Metadata: p.GetMetadata(), Data: reverse(p.GetData())}
	}
	return out, nil
}

func (r reversing) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return r.Encode(payloads)
}

func reverse(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[len(b)-1-i] = b[i]
	}
	return out
}

func deduped(a *job.Assignment) { a.Limits.Dedupe, a.Limits.KeyTTL = job.DedupeStore, 3000*time.Hour }

func TestDedupe(t *testing.T) {
	t.Parallel()
	newJob := func(t *testing.T, ledger *ledgerRow, result any, err error) (f *fixture, runs *int) {
		runs = new(int)
		options := activities.RunnerOptions{DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), reversing{})}
		if ledger != nil {
			options.Ledger = ledger
		}
		f = newFixture(t, options, func(context.Context, anyPayload) (any, error) {
			*runs++
			return result, err
		})
		return f, runs
	}
	run := func(t *testing.T, f *fixture, change ...func(*job.Assignment)) json.RawMessage {
		t.Helper()
		value, err := f.ExecuteActivity(string(orderType), assignment(change...))
		require.NoError(t, err)
		var result json.RawMessage
		require.NoError(t, value.Get(&result))
		return result
	}

	t.Run("SecondRunGetsTheResultOfTheFirst", func(t *testing.T) {
		t.Parallel()
		for _, result := range []any{map[string]string{"id": secret}, nil, "text"} {
			ledger := &ledgerRow{}
			f, runs := newJob(t, ledger, result, nil)
			first := run(t, f, deduped)
			require.Zero(t, f.zap.FilterMessage("job deduplicated").Len())
			require.Equal(t, string(first), string(run(t, f, deduped)))
			require.Equal(t, 1, *runs)
			require.Equal(t, 1, f.zap.FilterMessage("job deduplicated").Len())
			require.NotContains(t, string(ledger.result), secret, "the ledger has it as history has it")
			require.Equal(t, 3000*time.Hour, ledger.claims[0].KeyTTL)
			require.Equal(t, job.EffectID{
				Namespace: ledger.claims[0].Effect.Namespace, Job: orderID, Name: job.EffectJob,
			}, ledger.claims[1].Effect)
		}
	})
	t.Run("DefaultCostsNothing", func(t *testing.T) {
		t.Parallel()
		ledger := &ledgerRow{}
		f, runs := newJob(t, ledger, 1, nil)
		run(t, f)
		run(t, f, func(a *job.Assignment) { a.Limits.Dedupe = "" }) // of a worker before this one
		require.Empty(t, ledger.claims)
		require.Equal(t, 2, *runs)
	})
	t.Run("FailureIsNotRemembered", func(t *testing.T) {
		t.Parallel()
		ledger := &ledgerRow{}
		f, runs := newJob(t, ledger, nil, job.Rejected(errors.New("mailbox unknown")))
		for range 2 {
			require.Equal(t, job.ClassRejected, f.fail(t, assignment(deduped)).Class)
		}
		require.Equal(t, 2, *runs)
		require.False(t, ledger.done)
	})
	t.Run("StaleAttemptIsHandedBack", func(t *testing.T) {
		t.Parallel()
		f, _ := newJob(t, &ledgerRow{refusal: job.ErrFenced}, 1, nil)
		v := f.fail(t, assignment(deduped))
		require.Equal(t, "effect", v.Report.HandedBack)
		require.Zero(t, v.Report.Log.Counted)
		require.False(t, v.Final)
	})
	t.Run("WithoutLedgerIsHandedBack", func(t *testing.T) {
		t.Parallel()
		f, runs := newJob(t, nil, 1, nil)
		v := f.fail(t, assignment(deduped))
		require.Equal(t, "effect", v.Report.HandedBack)
		require.Zero(t, *runs)
	})
	t.Run("ResultTooLargeToKeep", func(t *testing.T) {
		t.Parallel()
		ledger, large := &ledgerRow{}, strings.Repeat("x", job.MaxEffectResultBytes)
		f, runs := newJob(t, ledger, large, nil)
		require.Len(t, run(t, f, deduped), len(large)+2, "the first run is none the worse")
		require.Equal(t, 1, f.zap.FilterMessageSnippet("result too large for the ledger").Len())
		v := f.fail(t, assignment(deduped))
		require.Equal(t, job.ClassHandlerDefect, v.Class)
		require.Contains(t, v.Message, "the key was processed before")
		require.Equal(t, 1, *runs, "and is not run again")
	})
}

// A policy's key TTL is the ledger's.
func TestEffectsAreRememberedForTheKeyTTL(t *testing.T) {
	t.Parallel()
	ledger := &ledgerRow{}
	f := newFixture(t, activities.RunnerOptions{Ledger: ledger}, func(ctx context.Context, _ anyPayload) (any, error) {
		return job.Once(ctx, "charge", func(context.Context, string) (int, error) { return 1, nil })
	})
	_, err := f.ExecuteActivity(string(orderType), assignment(func(a *job.Assignment) { a.Limits.KeyTTL = 3000 * time.Hour }))
	require.NoError(t, err)
	require.Equal(t, 3000*time.Hour, ledger.claims[0].KeyTTL)
}
