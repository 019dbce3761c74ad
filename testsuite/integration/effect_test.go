package integration_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// An effect that was applied stands: retries and replays get its stored result and do not apply it again.
func TestEffectIsAppliedOnceOverRetriesAndReplays(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		var charged, runs atomic.Int64
		charging := func(fail error) *worker.Handlers {
			h := new(worker.Handlers)
			definition := job.Definition{Type: "note.charge", Effects: job.EffectsLedger, Owner: "tests"}
			require.NoError(t, worker.Register(h, definition, func(ctx context.Context, _ note) (any, error) {
				runs.Add(1)
				receipt, err := job.Once(ctx, "charge", func(context.Context, string) (int64, error) { return charged.Add(1), nil })
				if err != nil || fail != nil {
					return nil, errors.Join(err, fail)
				}
				return receipt, nil
			}))
			return h
		}
		s.policies.Default = quick()
		stop := s.work("v1", charging(errors.New("the receipt could not be mailed")))
		letter := s.parked(s.enqueue("note.charge", "a", note{}).ID)
		require.Equal(t, job.CauseAttemptsSpent, letter.Cause)
		require.EqualValues(t, 3, runs.Load())
		stop()
		s.work("v2", charging(nil))
		require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "mail is back"}).Accepted)
		require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
		result, err := s.wait(letter.KeyID)
		require.NoError(t, err)
		require.JSONEq(t, `1`, string(result), "the stored result of the one charge")
		require.EqualValues(t, 4, runs.Load())
		require.EqualValues(t, 1, charged.Load())
	})
}

// A handler that needs the ledger does not start without one.
func TestLedgerIsRequired(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	h := new(worker.Handlers)
	definition := job.Definition{Type: "note.charge", Effects: job.EffectsLedger, Owner: "tests"}
	require.NoError(t, worker.Register(h, definition, func(context.Context, note) (any, error) { return nil, nil }))
	_, err := worker.New(s.client, worker.Options{Handlers: h})
	require.ErrorIs(t, err, worker.ErrInvalidOptions)
	require.ErrorContains(t, err, "note.charge")
}
