package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// newLost is a Replay whose dead letter has a replay that another run of the workflow began.
func newLost(t *testing.T) *fixture {
	t.Helper()
	f := newReplay(t)
	f.parked.State, f.parked.Replays = job.StateReplaying, 1
	f.parked.Open = &job.ReplayRecord{DeadLetterID: "dl_1", Number: 1, State: job.StateReplaying}
	f.status = job.RunStatus{Running: true}
	return f
}

func TestReplayFollowsALostOne(t *testing.T) {
	t.Parallel()
	f := newLost(t)
	f.RegisterDelayedCallback(func() { f.status = job.RunStatus{Completed: true, Version: "v2"} }, 30*time.Second)
	f.at(time.Second, "replay", map[string]any{"actor": "a", "reason": "r"})
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Equal(t, job.RefusedAlreadyReplaying, refusalOf(t, f.requests[0]))
	last := f.replays[len(f.replays)-1]
	require.Equal(t, job.OutcomeResolved, last.Outcome)
	require.Contains(t, last.Detail, "v2", "which build resolved it")
}

// Every look stays in the history, which the server ends at a limit.
func TestFollowingAllDayLooksSeldom(t *testing.T) {
	t.Parallel()
	f := newLost(t)
	looks := 0
	f.register(job.ActivityDescribeJob, func(context.Context, job.RunQuery) (job.RunStatus, error) {
		looks++
		return f.status, nil
	})
	f.RegisterDelayedCallback(func() { f.status = job.RunStatus{Completed: true} }, 24*time.Hour)
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Equal(t, job.OutcomeResolved, f.replays[0].Outcome)
	require.Less(t, looks, 300)
	require.Greater(t, looks, 24, "an outcome is noticed within minutes")
}

func TestReplayContinuesAsNewWhileAReplayRuns(t *testing.T) {
	t.Parallel()
	requireContinued := func(t *testing.T, f *fixture) {
		t.Helper()
		var continued *workflow.ContinueAsNewError
		require.ErrorAs(t, f.GetWorkflowError(), &continued)
		require.Equal(t, job.WorkflowReplay, continued.WorkflowType.Name)
	}
	t.Run("Followed", func(t *testing.T) {
		t.Parallel()
		f := newLost(t)
		f.RegisterDelayedCallback(func() { f.SetContinueAsNewSuggested(true) }, time.Hour)
		f.RegisterDelayedCallback(f.CancelWorkflow, 3*time.Hour)
		f.runReplay()
		requireContinued(t, f)
		require.Empty(t, f.replays, "no outcome yet")
	})
	t.Run("Begun", func(t *testing.T) {
		t.Parallel()
		f := newReplay(t)
		attempts := 0
		f.handler(func(job.Assignment) (json.RawMessage, error) {
			if attempts++; attempts > 8 {
				return nil, nil
			}
			return nil, wire.Encode(&job.Failure{Class: job.ClassTransient, Delay: time.Hour})
		})
		f.at(time.Second, "replay", map[string]any{"actor": "a", "reason": "r"})
		f.RegisterDelayedCallback(func() { f.SetContinueAsNewSuggested(true) }, time.Hour)
		f.at(2*time.Hour, "annotate", map[string]any{"actor": "a", "text": "it takes long"})
		f.RegisterDelayedCallback(f.CancelWorkflow, 3*time.Hour)
		f.runReplay()
		requireContinued(t, f)
		require.Len(t, f.requests, 2, "the note is answered before")
	})
	t.Run("NotYetBegun", func(t *testing.T) {
		t.Parallel()
		f := newReplay(t)
		f.OnWorkflow(job.WorkflowJob, mock.Anything, mock.Anything).After(10*time.Hour).Return(nil, nil) // the start takes long
		f.at(time.Second, "replay", map[string]any{"actor": "a", "reason": "r"})
		f.RegisterDelayedCallback(func() { f.SetContinueAsNewSuggested(true) }, time.Minute)
		f.at(time.Hour, "annotate", map[string]any{"actor": "a", "text": "it takes long"})
		f.RegisterDelayedCallback(f.CancelWorkflow, 3*time.Hour)
		f.runReplay()
		require.True(t, temporal.IsCanceledError(f.GetWorkflowError()), "another run would not find it, got %v", f.GetWorkflowError())
	})
}

// Replays that were refused or canceled are no reason to wait longer.
func TestWaitGrowsWithReplaysThatFailedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failedAgain int
		want        time.Duration
	}{"First": {0, time.Minute}, "Second": {1, 2 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newReplay(t)
			f.parked.Replays, f.parked.Finished, f.parked.FailedAgain = 2, 2, c.failedAgain
			f.OnWorkflow(job.WorkflowJob, mock.Anything, mock.Anything).Return(nil, wire.EncodeDeadLettered(job.DeadLettered{
				DeadLetterID: "dl_1", Class: job.ClassInvalidPayload, Cause: job.CausePoison, PayloadRef: "pl_1",
			}))
			f.at(time.Second, "replay", map[string]any{"actor": "a", "reason": "r"})
			f.RegisterDelayedCallback(f.CancelWorkflow, time.Minute)
			f.runReplay()
			last := f.replays[len(f.replays)-1]
			require.Equal(t, job.OutcomeFailedAgain, last.Outcome)
			require.Equal(t, c.want, last.NotBefore.Sub(*last.FinishedAt))
		})
	}
}
