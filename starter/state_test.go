package starter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

func TestState(t *testing.T) {
	t.Parallel()
	ours, replays := order.JobWorkflowID(), order.ReplayWorkflowID()
	for name, c := range map[string]struct {
		runs map[string]run
		want job.State
	}{
		"Running":             {map[string]run{ours: {status: running}}, job.StateRunning},
		"Completed":           {map[string]run{ours: {status: completed}}, job.StateCompleted},
		"Canceled":            {map[string]run{ours: {status: canceled}}, job.StateCanceled},
		"AReplayRuns":         {map[string]run{ours: {status: running, parent: replays}}, job.StateReplaying},
		"AReplayCompleted":    {map[string]run{ours: {status: completed, parent: replays}}, job.StateResolved},
		"AnotherParentsChild": {map[string]run{ours: {status: running, parent: "orders:1001"}}, job.StateRunning},
		"Parked":              {map[string]run{ours: {status: failed}, replays: {status: running, state: job.StateDeadLettered}}, job.StateDeadLettered},
		"Discarded":           {map[string]run{ours: {status: failed}, replays: {status: completed, state: job.StateDiscarded}}, job.StateDiscarded},
		"ACanceledReplaysRun": {map[string]run{ours: {status: canceled, parent: replays}, replays: {status: running, state: job.StateDeadLettered}}, job.StateDeadLettered},
		"ReplayLost":          {map[string]run{ours: {status: failed}}, job.StateDeadLettered},
		"ReplayWithoutState":  {map[string]run{ours: {status: failed}, replays: {status: running}}, job.StateDeadLettered},
		"TerminatedBesideReplay": {map[string]run{
			ours: {status: enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED}, replays: {status: running, state: job.StateDeadLettered},
		}, job.StateDeadLettered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, err := starter.New(&fakeTemporal{runs: c.runs}, starter.Options{}).State(t.Context(), order)
			require.NoError(t, err)
			require.Equal(t, c.want, state)
		})
	}
	t.Run("UnknownKey", func(t *testing.T) {
		t.Parallel()
		_, err := starter.New(&fakeTemporal{}, starter.Options{}).State(t.Context(), order)
		require.ErrorIs(t, err, job.ErrNotFound)
	})
}

// A run that was ended from outside ran no code of ours: nobody may be told that its dead letter waits.
func TestStateOfARunThatLeftNoRecord(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]enumspb.WorkflowExecutionStatus{
		"terminated": enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, "timedout": enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeTemporal{
				taken: "run-1", inputs: map[string]string{"run-1": `{"type":"email.send","key":"order-1001","schema_version":1,"payload":1}`},
				runs: map[string]run{order.JobWorkflowID(): {status: status}},
			}
			c := starter.New(f, starter.Options{})
			state, err := c.State(t.Context(), order)
			require.ErrorIs(t, err, starter.ErrUnrecorded)
			require.ErrorContains(t, err, name)
			require.Empty(t, state)
			again, err := c.Start(t.Context(), job.Envelope{Type: order.Type, Key: order.Key, Payload: []byte(`1`)}, starter.EnqueueOptions{})
			require.NoError(t, err)
			require.True(t, again.Duplicate)
			require.Empty(t, again.State)
			require.Contains(t, again.Warning, "left no dead letter")
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	t.Run("AsksTheRunThatRuns", func(t *testing.T) {
		t.Parallel()
		f := &fakeTemporal{runs: map[string]run{order.JobWorkflowID(): {status: running}}}
		require.NoError(t, starter.New(f, starter.Options{}).Cancel(t.Context(), order))
		require.Equal(t, []string{"job:email.send:order-1001 run-latest"}, f.canceled)
	})
	t.Run("EndedJobIsRefused", func(t *testing.T) {
		t.Parallel()
		f := &fakeTemporal{runs: map[string]run{order.JobWorkflowID(): {status: completed}}}
		require.ErrorIs(t, starter.New(f, starter.Options{}).Cancel(t.Context(), order), starter.ErrNotRunning)
		require.Empty(t, f.canceled)
	})
	t.Run("UnknownKey", func(t *testing.T) {
		t.Parallel()
		err := starter.New(&fakeTemporal{}, starter.Options{}).Cancel(t.Context(), order)
		require.ErrorIs(t, err, job.ErrNotFound)
		require.ErrorContains(t, err, "cancel email.send:order-1001")
	})
}
