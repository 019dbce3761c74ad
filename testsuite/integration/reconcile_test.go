package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// tillVariable names the file that worker processes charge into: a system that is called, deduplicates nothing, and
// survives its callers.
const tillVariable = "REDRIVE_TEST_TILL"

// till is that system, seen from the test.
type till struct {
	t    *testing.T
	path string
}

func newTill(t *testing.T) till {
	t.Helper()
	path := filepath.Join(t.TempDir(), "till")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	return till{t, path}
}

func (l till) variable() string { return tillVariable + "=" + l.path }

// charges returns what was charged, in order.
func (l till) charges() []string {
	l.t.Helper()
	raw, err := os.ReadFile(l.path)
	require.NoError(l.t, err)
	return strings.Fields(string(raw))
}

// charge appends a line, and returns a receipt that no other charge has.
func charge(path, what string) (receipt string, err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(f, what)
	return fmt.Sprintf("%s-%d", what, time.Now().UnixNano()), errors.Join(err, f.Close())
}

// purchase is the payload of note.charge: its effects, and where the worker dies that makes the first of them.
type purchase struct {
	Effects []string `json:"effects"`
	Die     string   `json:"die,omitempty"`  // dieUnrecorded or dieUnreported
	Fail    bool     `json:"fail,omitempty"` // worker processes refuse the job after the charges
}

const (
	dieUnrecorded = "unrecorded" // all calls have gone through, and no record says so
	dieUnreported = "unreported" // the effects are recorded, and Temporal does not know
)

// registerCharge registers the handler that worker processes run.
func registerCharge(h *worker.Handlers, path string) error {
	definition := job.Definition{Type: "note.charge", Effects: job.EffectsLedger, Owner: "tests"}
	return worker.Register(h, definition, func(ctx context.Context, p purchase) (any, error) {
		before, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if len(before) > 0 {
			p.Die = ""
		}
		receipts, err := buy(ctx, path, p)
		switch {
		case err != nil:
			return nil, err
		case p.Die == dieUnreported:
			os.Exit(1)
		case p.Fail:
			return nil, job.Rejected(errors.New("the receipt could not be mailed"))
		}
		return receipts, nil
	})
}

// buy makes all charges of a purchase at the same time, and returns their receipts by effect.
func buy(ctx context.Context, path string, p purchase) (map[string]string, error) {
	var made, all sync.WaitGroup
	made.Add(len(p.Effects))
	receipts, failed := make([]string, len(p.Effects)), make([]error, len(p.Effects))
	for i, effect := range p.Effects {
		all.Go(func() {
			receipts[i], failed[i] = job.Once(ctx, effect, func(context.Context, string) (string, error) {
				receipt, err := charge(path, effect)
				made.Done()
				if err == nil && p.Die == dieUnrecorded {
					made.Wait()
					os.Exit(1)
				}
				return receipt, err
			})
		})
	}
	all.Wait()
	byEffect := map[string]string{}
	for i, effect := range p.Effects {
		byEffect[effect] = receipts[i]
	}
	return byEffect, errors.Join(failed...)
}

// reconcile sends an operator's word and returns the decision.
func (s *stack) reconcile(id job.DeadLetterID, r job.Request) job.Decision {
	s.t.Helper()
	r.Actor, r.Reason = "ada", "asked the bank"
	return s.request(id, job.RequestReconcile, r)
}

// unsettled returns what of a dead letter waits for an operator's word, as the store and as Replay have it.
func (s *stack) unsettled(letter job.DeadLetter) []string {
	s.t.Helper()
	names := job.UnsettledEffects(s.letter(letter.ID).Effects)
	require.ElementsMatch(s.t, names, s.state(letter.KeyID).Unsettled)
	return names
}

// A worker dies between the call of an effect and its record: the job parks, and runs again only when an operator has
// said what happened. What happened is not done again, and what did not happen is.
func TestUnknownOutcomeIsReconciled(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		s.policies.Default = quick()
		s.work("v1", nil)
		l := newTill(t)
		v := s.supervise(1, true, l.variable())
		letter := s.parked(s.enqueue("note.charge", "a", purchase{Effects: []string{"charge", "fee"}, Die: dieUnrecorded}).ID)
		v.end()
		require.Equal(t, job.ClassUnknownOutcome, letter.Class)
		require.Equal(t, job.CauseUnknownOutcome, letter.Cause)
		require.ElementsMatch(t, []string{"charge", "fee"}, l.charges())
		require.Equal(t, []string{"charge", "fee"}, s.unsettled(letter))
		require.Contains(t, s.details(letter.KeyID), "`charge`")
		require.Contains(t, s.details(letter.KeyID), "`fee`")
		shown := redrive(t, s.environment(), "dead-letters", "show", string(letter.ID))
		require.Zero(t, shown.code, shown.stderr)
		require.Regexp(t, `charge +(unknown|claimed) .*reconcile it`, shown.stdout)

		s.supervise(1, true, l.variable())
		refused := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "the worker is back"})
		require.Equal(t, job.RefusedNeedsReconcile, refused.Refusal.Code)
		require.Contains(t, refused.Refusal.Detail, "charge, fee")

		happened := s.reconcile(letter.ID, job.Request{Effect: "charge", Happened: new(true), Result: json.RawMessage(`"from the bank"`)})
		require.True(t, happened.Accepted, "%+v", happened.Refusal)
		require.Equal(t, []string{"fee"}, s.unsettled(letter))
		refused = s.ask(letter.ID, job.Request{Actor: "ada", Reason: "one is settled"})
		require.Equal(t, job.RefusedNeedsReconcile, refused.Refusal.Code)
		typo := s.reconcile(letter.ID, job.Request{Effect: "fees", Happened: new(false)})
		require.Equal(t, job.RefusedInvalidRequest, typo.Refusal.Code)
		require.Contains(t, typo.Refusal.Detail, "fee")
		freed := redrive(t, s.environment(), "dead-letters", "reconcile", letter.KeyID.String(),
			"--effect", "fee", "--happened", "false", "--reason", "the bank knows of none")
		require.Zero(t, freed.code, "%s\n%s", freed.stdout, freed.stderr)
		require.Empty(t, s.unsettled(letter))

		require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "all is settled"}).Accepted)
		require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
		raw, err := s.wait(letter.KeyID)
		require.NoError(t, err)
		var receipts map[string]string
		require.NoError(t, json.Unmarshal(raw, &receipts))
		require.Equal(t, "from the bank", receipts["charge"])
		require.Contains(t, receipts["fee"], "fee-")
		require.Len(t, l.charges(), 3)
		require.Equal(t, "fee", l.charges()[2], "what happened is not done again, and what did not happen is")
	})
}

// The raw doors: an update is answered, a signal with nonsense is recorded as refused, and late words change nothing.
func TestReconcileThroughEveryDoor(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	calls := make(chan string, 10)
	h := new(worker.Handlers)
	definition := job.Definition{Type: "note.charge", Effects: job.EffectsLedger, Owner: "tests"}
	require.NoError(t, worker.Register(h, definition, func(ctx context.Context, p purchase) (any, error) {
		return job.Once(ctx, p.Effects[0], func(context.Context, string) (string, error) {
			calls <- p.Effects[0]
			if p.Fail {
				return "", job.UnknownOutcome(errors.New("the connection broke"))
			}
			return "called", nil
		})
	}))
	s.work("v1", h)
	letter := s.parked(s.enqueue("note.charge", "a", purchase{Effects: []string{"charge"}, Fail: true}).ID)
	require.Equal(t, job.ClassUnknownOutcome, letter.Class)
	nonsense := []string{`"charge"`, `{"actor":"ada","reason":"r","effect":"charge"}`, `{"actor":"ada","reason":"r","effect":"charge","happened":"no"}`}
	for _, text := range nonsense {
		s.rawSignal(letter.ReplayWorkflowID(), "reconcile", plainJSON(text))
	}
	s.until("all are recorded", func() bool { return len(s.letter(letter.ID).Requests) == len(nonsense) })
	for _, r := range s.letter(letter.ID).Requests {
		require.Equal(t, job.RefusedInvalidRequest, r.Refusal.Code, "%+v", r)
	}
	require.Equal(t, []string{"charge"}, s.unsettled(letter))

	handle, err := s.client.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: letter.ReplayWorkflowID(), UpdateName: "reconcile", WaitForStage: client.WorkflowUpdateStageCompleted,
		Args: []any{map[string]any{"actor": "ada", "reason": "asked", "effect": "charge", "happened": true, "result": "by the bank"}},
	})
	require.NoError(t, err)
	var decision job.Decision
	require.NoError(t, handle.Get(t.Context(), &decision))
	require.True(t, decision.Accepted, "%+v", decision.Refusal)
	late := s.reconcile(letter.ID, job.Request{Effect: "charge", Happened: new(false)})
	require.Equal(t, job.RefusedInvalidRequest, late.Refusal.Code)
	require.Contains(t, late.Refusal.Detail, "did happen")

	require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "settled"}).Accepted)
	require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
	result, err := s.wait(letter.KeyID)
	require.NoError(t, err)
	require.JSONEq(t, `"by the bank"`, string(result))
	require.Len(t, calls, 1)
	var words []job.RequestRecord
	for _, r := range s.letter(letter.ID).Requests {
		if r.Kind == job.RequestReconcile && r.Accepted {
			words = append(words, r)
		}
	}
	require.Len(t, words, 1)
	require.Equal(t, "charge", words[0].Effect)
	require.True(t, *words[0].Happened)
}
