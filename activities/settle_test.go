package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// book is a ledger with one effect, "charge", of which nobody knows.
type book struct {
	settled []job.Settlement
	err     error // of every call
}

func (b *book) Standing(context.Context, job.DeadLetterID) ([]job.EffectStanding, error) {
	return []job.EffectStanding{{Name: "charge", State: job.EffectUnknown, Fence: 7, Unsettled: true}, {Name: "mail", State: job.EffectDone}}, b.err
}

func (b *book) Effect(_ context.Context, id job.EffectID) (job.EffectRecord, error) {
	if b.err == nil && id.Name != "charge" {
		return job.EffectRecord{}, fmt.Errorf("read effect %s: %w", id, job.ErrNotFound)
	}
	return job.EffectRecord{Effect: id, State: job.EffectUnknown, Fence: 7, Result: json.RawMessage(`"` + secret + `"`)}, b.err
}

func (b *book) Reconcile(_ context.Context, s job.Settlement) error {
	b.settled = append(b.settled, s)
	return b.err
}

func newBookkeeper(t *testing.T, effects activities.Settler) *morgue {
	t.Helper()
	m := newMorgue(t)
	var err error
	m.DeadLetters, err = activities.NewDeadLetters(activities.DeadLettersOptions{
		Client: m.temporal, DataConverter: converter.GetDefaultDataConverter(), Store: &m.shelf, Vault: &m.shelf,
		Effects: effects, Registry: &activities.Registry{},
	})
	require.NoError(t, err)
	return m
}

var charge = job.EffectID{Namespace: "default", Job: orderID, Name: "charge"}

func TestFindEffect(t *testing.T) {
	t.Parallel()
	got, err := newBookkeeper(t, &book{}).FindEffect(t.Context(), charge)
	require.NoError(t, err)
	require.Equal(t, &job.EffectStanding{Name: "charge", State: job.EffectUnknown, Fence: 7, Unsettled: true}, got)
	for _, ledger := range []activities.Settler{&book{}, nil} {
		got, err = newBookkeeper(t, ledger).FindEffect(t.Context(), job.EffectID{Job: orderID, Name: "chrage"})
		require.NoError(t, err)
		require.Nil(t, got)
	}
	_, err = newBookkeeper(t, &book{err: errDown}).FindEffect(t.Context(), charge)
	require.ErrorIs(t, err, errDown, "and Temporal asks again")
}

func TestSettleEffect(t *testing.T) {
	t.Parallel()
	settlement := job.Settlement{Effect: charge, Fence: 7, Happened: true}
	for name, c := range map[string]struct {
		ledger error
		want   job.RefusalCode
		says   string
	}{
		"Held":     {&job.EffectHeldError{Effect: charge, For: 3 * time.Second}, job.RefusedTooEarly, "3s"},
		"Fenced":   {fmt.Errorf("x: %w", job.ErrFenced), job.RefusedInvalidRequest, "meanwhile"},
		"Purged":   {fmt.Errorf("x: %w", job.ErrNotFound), job.RefusedInvalidRequest, "meanwhile"},
		"Settled":  {fmt.Errorf("x: %w", job.ErrEffectSettled), job.RefusedInvalidRequest, "did happen"},
		"Unstored": {fmt.Errorf("x: %w", job.ErrEffectResult), job.RefusedInvalidRequest, "64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refusal, err := newBookkeeper(t, &book{err: c.ledger}).SettleEffect(t.Context(), settlement)
			require.NoError(t, err)
			require.Equal(t, c.want, refusal.Code)
			require.Contains(t, refusal.Detail, "effect charge ")
			require.Contains(t, refusal.Detail, c.says)
		})
	}
	t.Run("Taken", func(t *testing.T) {
		t.Parallel()
		ledger := &book{}
		refusal, err := newBookkeeper(t, ledger).SettleEffect(t.Context(), settlement)
		require.NoError(t, err)
		require.Nil(t, refusal)
		require.Equal(t, []job.Settlement{settlement}, ledger.settled)
	})
	t.Run("Trouble", func(t *testing.T) {
		t.Parallel()
		for ledger, want := range map[activities.Settler]error{&book{err: errDown}: errDown, nil: job.ErrLedgerUnavailable} {
			refusal, err := newBookkeeper(t, ledger).SettleEffect(t.Context(), settlement)
			require.ErrorIs(t, err, want)
			require.Nil(t, refusal)
		}
	})
}

// Which effect is unknown is on the page of the dead letter, with the command that settles it; what is done is not.
func TestUnsettledEffectsAreShown(t *testing.T) {
	t.Parallel()
	unknown := func(n *job.DeathNotice) { n.Class, n.Cause = job.ClassUnknownOutcome, job.CauseUnknownOutcome }
	m := newBookkeeper(t, &book{})
	m.startedWith(t, envelope(`{}`))
	death, letter := m.record(t, notice(unknown))
	text, _ := outside(t, death.Details)
	require.Contains(t, text, "- `charge`")
	require.NotContains(t, text, "`mail`")
	require.Contains(t, death.Details, job.ReconcileCommand("default", orderID, "charge"))

	in := job.ReplayInput{DeadLetterID: letter.ID, ID: orderID}
	got, err := m.LoadParked(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, []string{"charge"}, got.Unsettled)
	require.False(t, got.Reconciled)
	require.Contains(t, got.Details, "- `charge`")

	reconcile := job.RequestRecord{Kind: job.RequestReconcile, Accepted: true, At: m.letters[0].LastFailure.Add(time.Second)}
	for want, change := range map[bool]func(*job.RequestRecord){
		true:  func(*job.RequestRecord) {},
		false: func(r *job.RequestRecord) { r.Accepted = false },
	} {
		r := reconcile
		change(&r)
		m.letters[0].Requests = []job.RequestRecord{r}
		got, err = m.LoadParked(t.Context(), in)
		require.NoError(t, err)
		require.Equal(t, want, got.Reconciled)
	}
	reconcile.At = m.letters[0].LastFailure.Add(-time.Second)
	m.letters[0].Requests = []job.RequestRecord{reconcile}
	got, err = m.LoadParked(t.Context(), in)
	require.NoError(t, err)
	require.False(t, got.Reconciled, "it was about an earlier failure")

	m = newBookkeeper(t, &book{err: errDown})
	m.startedWith(t, envelope(`{}`))
	_, err = m.RecordDeath(t.Context(), notice(unknown))
	require.ErrorIs(t, err, errDown)
	require.Len(t, m.letters, 1, "the record is durable all the same")
}
