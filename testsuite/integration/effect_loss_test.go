package integration_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// An effect was recorded and its worker died before it could report: the retry gets the stored result, and so does a
// replay, also when the namespace has forgotten the run that applied it.
func TestRecordedEffectOutlivesWorkerAndHistory(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		s.policies.Default = quick()
		s.work("v1", nil)
		buying := func(key job.Key, fail bool) job.KeyID {
			return s.enqueue("note.charge", key, purchase{Effects: []string{"charge"}, Die: dieUnreported, Fail: fail}).ID
		}
		receipt := func(id job.KeyID) string {
			raw, err := s.wait(id)
			require.NoError(t, err)
			var receipts map[string]string
			require.NoError(t, json.Unmarshal(raw, &receipts))
			return receipts["charge"]
		}
		stored := func(id job.KeyID) string {
			record, err := s.store.Effect(t.Context(), job.EffectID{Namespace: s.namespace, Job: id, Name: "charge"})
			require.NoError(t, err)
			require.Equal(t, job.EffectDone, record.State)
			var receipt string
			require.NoError(t, json.Unmarshal(record.Result, &receipt))
			return receipt
		}

		retried := newTill(t)
		v := s.supervise(1, true, retried.variable())
		id := buying("retried", false)
		first := receipt(id)
		require.Equal(t, stored(id), first)
		require.Equal(t, []string{"charge"}, retried.charges())
		v.end()
		require.Equal(t, 2, v.deaths, "the worker died once by itself, and once at the end")

		replayed := newTill(t)
		v = s.supervise(1, true, replayed.variable())
		letter := s.parked(buying("replayed", true))
		v.end()
		require.Equal(t, job.ClassRejected, letter.Class)
		require.Equal(t, 2, v.deaths)
		s.forget(letter.KeyID)
		h := new(worker.Handlers)
		definition := job.Definition{Type: "note.charge", Effects: job.EffectsLedger, Owner: "tests"}
		require.NoError(t, worker.Register(h, definition, func(ctx context.Context, p purchase) (any, error) {
			return buy(ctx, replayed.path, purchase{Effects: p.Effects})
		}))
		s.start(worker.Options{Handlers: h, HandlerVersion: "v2", Payloads: s.vault, Ledger: s.store})
		require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "mail is back"}).Accepted)
		require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
		require.Equal(t, stored(letter.KeyID), receipt(letter.KeyID))
		require.Equal(t, []string{"charge"}, replayed.charges(), "neither the retry nor the replay charged again")
	})
}
