package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// newUnsettled is a dead letter with two effects of which nobody knows whether they happened, and a ledger that holds
// them. Settlements are recorded; one that the ledger takes is settled.
func newUnsettled(t *testing.T, refuse func(job.Settlement) *job.Refusal) (f *fixture, settled *[]job.Settlement) {
	t.Helper()
	f, settled = newReplay(t), &[]job.Settlement{}
	f.parked.Current.Class, f.parked.Unsettled = job.ClassUnknownOutcome, []string{"charge", "mail"}
	fences := map[string]int64{"charge": 7, "mail": 9}
	f.register(job.ActivityFindEffect, func(_ context.Context, id job.EffectID) (*job.EffectStanding, error) {
		require.Equal(t, order, id.Job)
		require.NotEmpty(t, id.Namespace)
		fence, known := fences[id.Name]
		if !known {
			return nil, nil
		}
		return &job.EffectStanding{Name: id.Name, State: job.EffectUnknown, Fence: fence, Unsettled: true}, nil
	})
	f.register(job.ActivitySettleEffect, func(_ context.Context, s job.Settlement) (*job.Refusal, error) {
		*settled = append(*settled, s)
		if refusal := refuse(s); refusal != nil {
			return refusal, nil
		}
		var left []string
		for _, name := range f.parked.Unsettled {
			if name != s.Effect.Name {
				left = append(left, name)
			}
		}
		f.parked.Unsettled = left
		return nil, nil
	})
	return f, settled
}

func takesAll(job.Settlement) *job.Refusal { return nil }

func word(effect string, happened bool, more ...any) map[string]any {
	w := map[string]any{"actor": "ada", "reason": "asked the bank", "effect": effect, "happened": happened}
	for i := 0; i+1 < len(more); i += 2 {
		w[more[i].(string)] = more[i+1]
	}
	return w
}

// Every effect is settled before a replay runs, each with the fence that was found when it was asked for.
func TestReconcileThenReplay(t *testing.T) {
	t.Parallel()
	f, settled := newUnsettled(t, takesAll)
	f.handler(func(job.Assignment) (json.RawMessage, error) { return json.RawMessage(`1`), nil })
	replay := map[string]any{"actor": "ada", "reason": "settled"}
	f.at(1*time.Second, "replay", replay)
	f.at(2*time.Second, "reconcile", word("charge", true, "result", map[string]any{"id": "ch_81"}))
	f.at(3*time.Second, "replay", replay)
	f.at(4*time.Second, "reconcile", word("mail", false))
	f.at(5*time.Second, "replay", replay)
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Equal(t, []job.Settlement{
		{Effect: job.EffectID{Namespace: "default-test-namespace", Job: order, Name: "charge"}, Fence: 7, Happened: true, Result: json.RawMessage(`{"id":"ch_81"}`)},
		{Effect: job.EffectID{Namespace: "default-test-namespace", Job: order, Name: "mail"}, Fence: 9},
	}, *settled)
	require.Len(t, f.requests, 5)
	for i, accepted := range []bool{false, true, false, true, true} {
		require.Equal(t, accepted, f.requests[i].Accepted, "request %d: %+v", i, f.requests[i].Refusal)
	}
	require.Equal(t, job.RefusedNeedsReconcile, refusalOf(t, f.requests[0]))
	require.Contains(t, f.requests[0].Refusal.Detail, "charge, mail")
	require.Equal(t, job.RefusedNeedsReconcile, refusalOf(t, f.requests[2]))
	require.Contains(t, f.requests[2].Refusal.Detail, "mail")
	require.NotContains(t, f.requests[2].Refusal.Detail, "charge")
	require.Equal(t, "charge", f.requests[1].Effect)
	require.True(t, *f.requests[1].Happened)
	require.False(t, *f.requests[3].Happened)
	require.Equal(t, job.OutcomeResolved, f.replays[len(f.replays)-1].Outcome)
}

func TestReconcileRefused(t *testing.T) {
	t.Parallel()
	fenced := func(job.Settlement) *job.Refusal {
		return &job.Refusal{Code: job.RefusedInvalidRequest, Detail: "claimed meanwhile"}
	}
	cases := map[string]struct {
		change  func(*fixture)
		refuse  func(job.Settlement) *job.Refusal
		input   any
		want    job.RefusalCode
		settled int
	}{
		"UnknownName":   {nil, takesAll, word("chrage", true), job.RefusedInvalidRequest, 0},
		"NoWord":        {nil, takesAll, map[string]any{"actor": "a", "reason": "r", "effect": "charge"}, job.RefusedInvalidRequest, 0},
		"NoReason":      {nil, takesAll, map[string]any{"actor": "a", "effect": "charge", "happened": true}, job.RefusedInvalidRequest, 0},
		"NotAnObject":   {nil, takesAll, "charge happened", job.RefusedInvalidRequest, 0},
		"ResultOfFalse": {nil, takesAll, word("charge", false, "result", 1), job.RefusedInvalidRequest, 0},
		"LedgerRefuses": {nil, fenced, word("charge", true), job.RefusedInvalidRequest, 1},
		"Replaying": {func(f *fixture) {
			f.parked.State, f.status = job.StateReplaying, job.RunStatus{Running: true}
			f.parked.Open = &job.ReplayRecord{DeadLetterID: "dl_1", Number: 1, State: job.StateReplaying}
		}, takesAll, word("charge", true), job.RefusedAlreadyReplaying, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, settled := newUnsettled(t, c.refuse)
			if c.change != nil {
				c.change(f)
			}
			f.at(time.Second, "reconcile", c.input)
			f.at(2*time.Second, "replay", map[string]any{"actor": "ada", "reason": "still not"})
			f.RegisterDelayedCallback(f.CancelWorkflow, time.Minute)
			f.runReplay()
			require.Len(t, f.requests, 2)
			require.Equal(t, c.want, refusalOf(t, f.requests[0]))
			require.False(t, f.requests[1].Accepted, "a refused word opens nothing")
			require.Len(t, *settled, c.settled)
			require.Empty(t, f.requests[0].State, "the dead letter stands where it stood")
		})
	}
}

// The same request id settles once; so does the same command without one.
func TestReconcileIsIdempotent(t *testing.T) {
	t.Parallel()
	f, settled := newUnsettled(t, takesAll)
	named := word("charge", false, "request_id", "c1")
	for i, w := range []map[string]any{named, named, word("mail", true), word("mail", true)} {
		f.at(time.Duration(i+1)*time.Second, "reconcile", w)
	}
	f.RegisterDelayedCallback(f.CancelWorkflow, time.Minute)
	f.runReplay()
	require.Len(t, *settled, 2)
	require.Len(t, f.requests, 2)
	require.Equal(t, "c1", f.requests[0].RequestID)
	require.Contains(t, f.requests[1].RequestID, "auto-")
}

// A handler that said by itself that nobody knows has no effect in the ledger: one word, that it did not happen, opens the
// way to a replay.
func TestReconcileOfAHandlersOwnWord(t *testing.T) {
	t.Parallel()
	f, settled := newUnsettled(t, takesAll)
	f.parked.Unsettled = nil
	f.handler(func(job.Assignment) (json.RawMessage, error) { return json.RawMessage(`1`), nil })
	replay := map[string]any{"actor": "ada", "reason": "settled"}
	f.at(1*time.Second, "replay", replay)
	f.at(2*time.Second, "reconcile", word("booking", true))
	f.at(3*time.Second, "replay", replay)
	f.at(4*time.Second, "reconcile", word("booking", false))
	f.at(5*time.Second, "replay", replay)
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Empty(t, *settled)
	for i, accepted := range []bool{false, false, false, true, true} {
		require.Equal(t, accepted, f.requests[i].Accepted, "request %d: %+v", i, f.requests[i].Refusal)
	}
}
