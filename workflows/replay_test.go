package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

func newReplay(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t, order.ReplayWorkflowID())
	f.parked = job.Parked{
		DeadLetterID: "dl_1", ID: order, State: job.StateDeadLettered,
		Current: job.DeadLettered{
			DeadLetterID: "dl_1", Class: job.ClassInvalidPayload, Cause: job.CausePoison, Versions: []string{"v1"}, PayloadRef: "pl_1",
		},
		Policy: job.ReplayPolicy{Max: 3, MinWait: time.Minute, MaxWait: time.Hour},
	}
	return f
}

func (f *fixture) runReplay() {
	f.ExecuteWorkflow(job.WorkflowReplay, job.ReplayInput{DeadLetterID: "dl_1", ID: order})
}

func (f *fixture) at(after time.Duration, signal string, arg any) {
	f.RegisterDelayedCallback(func() { f.SignalWorkflow(signal, arg) }, after)
}

func refusalOf(t *testing.T, r job.RequestRecord) job.RefusalCode {
	t.Helper()
	require.False(t, r.Accepted)
	require.NotNil(t, r.Refusal)
	return r.Refusal.Code
}

func TestReplayResolved(t *testing.T) {
	t.Parallel()
	f := newReplay(t)
	var ran []job.Assignment
	f.handler(func(a job.Assignment) (json.RawMessage, error) {
		ran = append(ran, a)
		return json.RawMessage(`1`), nil
	})
	f.at(time.Second, "replay", map[string]any{"actor": "ada", "reason": "fixed"})
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Len(t, ran, 1)
	require.Equal(t, job.PayloadRef("pl_1"), ran[0].Envelope.PayloadRef)
	require.Len(t, f.requests, 1)
	require.True(t, f.requests[0].Accepted)
	require.Len(t, f.replays, 2)
	require.Nil(t, f.replays[0].FinishedAt)
	require.Equal(t, job.OutcomeResolved, f.replays[1].Outcome)
	require.Equal(t, job.StateResolved, f.replays[1].State)
}

func TestReplayRuleReachesTheRun(t *testing.T) {
	t.Parallel()
	f := newReplay(t)
	var probed job.VersionRule
	f.probe = func(rule job.VersionRule) (string, error) { probed = rule; return "v2", nil }
	f.handler(func(job.Assignment) (json.RawMessage, error) { return nil, nil })
	f.at(time.Second, "replay", map[string]any{"actor": "ada", "reason": "fixed"})
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Equal(t, []string{"v1"}, probed.Not)
}

func TestReplayRefused(t *testing.T) {
	t.Parallel()
	unchanged := func(job.VersionRule) (string, error) { return "", handedBack("v1") }
	cases := map[string]struct {
		change func(*fixture)
		input  any
		want   job.RefusalCode
	}{
		"Unchanged":      {func(f *fixture) { f.probe = unchanged }, map[string]any{"actor": "a", "reason": "r"}, job.RefusedVersionUnchanged},
		"NamedFailed":    {nil, map[string]any{"actor": "a", "reason": "r", "fixed_version": "v1"}, job.RefusedVersionUnchanged},
		"NoActor":        {nil, map[string]any{"reason": "r"}, job.RefusedInvalidRequest},
		"NoReason":       {nil, map[string]any{"actor": "a"}, job.RefusedInvalidRequest},
		"NotAnObject":    {nil, "please", job.RefusedInvalidRequest},
		"WrongFieldType": {nil, map[string]any{"actor": 7, "reason": "r"}, job.RefusedInvalidRequest},
		"Null":           {nil, nil, job.RefusedInvalidRequest},
		"Limit":          {func(f *fixture) { f.parked.Replays = 3 }, map[string]any{"actor": "a", "reason": "r"}, job.RefusedReplayLimit},
		"TooEarly": {
			func(f *fixture) { f.parked.NotBefore = f.Now().Add(time.Hour) },
			map[string]any{"actor": "a", "reason": "r"},
			job.RefusedTooEarly,
		},
		"PayloadGone": {func(f *fixture) { f.parked.Current.PayloadRef = "" }, map[string]any{"actor": "a", "reason": "r"}, job.RefusedPayloadUnavailable},
		"Reconcile": {
			func(f *fixture) { f.parked.Current.Class = job.ClassUnknownOutcome },
			map[string]any{"actor": "a", "reason": "r"},
			job.RefusedNeedsReconcile,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newReplay(t)
			if c.change != nil {
				c.change(f)
			}
			f.handler(func(job.Assignment) (json.RawMessage, error) { return nil, poison("must not run") })
			f.at(time.Second, "replay", c.input)
			f.RegisterDelayedCallback(f.CancelWorkflow, time.Minute)
			f.runReplay()
			require.True(t, temporal.IsCanceledError(f.GetWorkflowError()), "got %v", f.GetWorkflowError())
			require.Len(t, f.requests, 1)
			require.Equal(t, c.want, refusalOf(t, f.requests[0]))
			require.Empty(t, f.replays)
		})
	}
}

func TestReplayFailsAgain(t *testing.T) {
	t.Parallel()
	f := newReplay(t)
	f.OnWorkflow(job.WorkflowJob, mock.Anything, mock.Anything).Return(nil, wire.EncodeDeadLettered(job.DeadLettered{
		DeadLetterID: "dl_1", Class: job.ClassInvalidPayload, Cause: job.CausePoison, Attempts: 1, PayloadRef: "pl_1",
	}))
	ask := map[string]any{"actor": "a", "reason": "r", "force": true}
	f.at(time.Second, "replay", ask)
	f.at(20*time.Second, "replay", ask)                // too early
	f.at(10*time.Minute, "replay", ask)                // second
	f.at(10*time.Minute+90*time.Second, "replay", ask) // too early: the wait has doubled
	f.RegisterDelayedCallback(f.CancelWorkflow, time.Hour)
	f.runReplay()
	f.AssertWorkflowNumberOfCalls(t, job.WorkflowJob, 2)
	require.Len(t, f.requests, 4)
	require.True(t, f.requests[0].Accepted)
	require.Equal(t, job.RefusedTooEarly, refusalOf(t, f.requests[1]))
	require.True(t, f.requests[2].Accepted)
	require.Equal(t, job.RefusedTooEarly, refusalOf(t, f.requests[3]))
	require.Equal(t, job.OutcomeFailedAgain, f.replays[3].Outcome)
	require.Equal(t, 2, f.replays[3].Number)
}

func TestReplayRequestsAreIdempotent(t *testing.T) {
	t.Parallel()
	f := newReplay(t)
	note := map[string]any{"request_id": "n1", "actor": "a", "text": "seen"}
	f.at(time.Second, "annotate", note)
	f.at(2*time.Second, "annotate", note)
	anonymous := map[string]any{"actor": "a", "text": "twice"}
	f.at(3*time.Second, "annotate", anonymous)
	f.at(4*time.Second, "annotate", anonymous)
	// An id is the kind's own: this is no repetition of the note.
	f.at(5*time.Second, "discard", map[string]any{"request_id": "n1", "actor": "a", "reason": "gone"})
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Len(t, f.requests, 3)
	require.Equal(t, "n1", f.requests[0].RequestID)
	require.Contains(t, f.requests[1].RequestID, "auto-")
	require.Equal(t, job.StateDiscarded, f.requests[2].State)
}
