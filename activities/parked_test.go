package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// parkedLetter is a dead letter whose second replay is running.
func parkedLetter() job.DeadLetter {
	finished := start.Add(time.Hour)
	first := job.FailureRecord{RunID: "run-1", PayloadRef: "pl_1", Class: job.ClassRejected, Log: job.AttemptLog{Versions: []string{"v1"}}}
	second := job.FailureRecord{RunID: "run-2", PayloadRef: "pl_1", Replay: 1, Class: job.ClassRejected, Log: job.AttemptLog{Versions: []string{"v2"}}}
	return job.DeadLetter{
		ID: job.NewDeadLetterID("default", orderID), Namespace: "default", KeyID: orderID, State: job.StateReplaying,
		Replays: 2, NotBefore: &finished, Tags: []string{"blue"}, FailureRecord: second,
		Failures: []job.FailureRecord{first, second},
		History: []job.ReplayRecord{
			{Number: 1, RequestID: "r-1", FinishedAt: &finished, Outcome: "failed_again"}, {Number: 2, RequestID: "r-2"},
		},
		Requests: []job.RequestRecord{{RequestID: "r-1", Kind: "replay", Accepted: true, Replay: 1}},
	}
}

func TestLoadParked(t *testing.T) {
	t.Parallel()
	letter := parkedLetter()
	in := job.ReplayInput{DeadLetterID: letter.ID, ID: orderID}
	t.Run("Known", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.letters = []job.DeadLetter{letter}
		got, err := m.LoadParked(t.Context(), in)
		require.NoError(t, err)
		require.Equal(t, job.StateReplaying, got.State)
		require.Equal(t, []string{"v1", "v2"}, got.Current.Versions, "every build that failed on this payload")
		require.Equal(t, 2, got.Open.Number)
		require.Equal(t, 1, got.Last.Number)
		require.Equal(t, []int{2, 1}, []int{got.Replays, got.Finished})
		require.Equal(t, *letter.NotBefore, got.NotBefore)
		require.Equal(t, 5, got.Policy.Max)
		decision, ok := got.Decided("replay", "r-1")
		require.True(t, ok)
		require.Equal(t, letter.ID, decision.DeadLetterID)
		require.NotEmpty(t, got.Details)
	})
	t.Run("Unknown", func(t *testing.T) {
		t.Parallel()
		got, err := newMorgue(t).LoadParked(t.Context(), in)
		require.NoError(t, err)
		require.Empty(t, got.State)
	})
	t.Run("IDAndKeyDoNotBelongTogether", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.letters = []job.DeadLetter{letter}
		got, err := m.LoadParked(t.Context(), job.ReplayInput{DeadLetterID: letter.ID, ID: job.KeyID{Type: orderType, Key: "other"}})
		require.NoError(t, err)
		require.Empty(t, got.State)
	})
	t.Run("StoreDown", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.down = errDown
		_, err := m.LoadParked(t.Context(), in)
		require.ErrorIs(t, err, errDown)
	})
}

func TestDescribeJob(t *testing.T) {
	t.Parallel()
	letter := parkedLetter()
	described := func(status enumspb.WorkflowExecutionStatus) *client.WorkflowExecutionDescription {
		d := &client.WorkflowExecutionDescription{}
		d.Status = status
		return d
	}
	failed := described(enumspb.WORKFLOW_EXECUTION_STATUS_FAILED)
	gone := serviceerror.NewNotFound("no such workflow")
	for name, c := range map[string]struct {
		description *client.WorkflowExecutionDescription
		err         error
		replay      int
		want        job.RunStatus
		failed      string // run id
	}{
		"Running":               {described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING), nil, 1, job.RunStatus{Running: true}, ""},
		"Completed":             {described(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED), nil, 1, job.RunStatus{Completed: true, Version: "v2"}, ""},
		"Failed":                {failed, nil, 1, job.RunStatus{}, "run-2"},
		"FailedAndForgotten":    {nil, gone, 1, job.RunStatus{}, "run-2"},
		"TheFirstRunIsNoReplay": {failed, nil, 0, job.RunStatus{}, ""},
		"LeftNoRecord":          {described(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED), nil, 2, job.RunStatus{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMorgue(t)
			m.letters = []job.DeadLetter{letter}
			m.temporal.On("DescribeWorkflow", mock.Anything, orderID.JobWorkflowID(), "").Return(c.description, c.err)
			if c.want.Completed {
				m.ranOn("v1", "v2")
			}
			got, err := m.DescribeJob(t.Context(), job.RunQuery{DeadLetterID: letter.ID, ID: orderID, Replay: c.replay})
			require.NoError(t, err)
			if c.failed != "" {
				require.NotNil(t, got.Failed)
				require.Equal(t, c.failed, got.Failed.RunID)
				got.Failed = nil
			}
			require.Equal(t, c.want, got)
		})
	}
	t.Run("TemporalDown", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.temporal.On("DescribeWorkflow", mock.Anything, mock.Anything, "").Return(nil, errDown)
		_, err := m.DescribeJob(t.Context(), job.RunQuery{DeadLetterID: letter.ID, ID: orderID, Replay: 1})
		require.ErrorIs(t, err, errDown)
	})
}

func TestProbe(t *testing.T) {
	t.Parallel()
	version, err := activities.Probe{Version: build, Payloads: true}.Handler(t.Context(), job.VersionRule{Not: []string{"v1"}})
	require.NoError(t, err)
	require.Equal(t, build, version)
	_, err = activities.Probe{Version: build, Payloads: true}.Handler(t.Context(), job.VersionRule{Not: []string{build}})
	var handedBack *job.Failure
	require.ErrorAs(t, err, &handedBack)
	require.True(t, handedBack.Benign)
	require.False(t, handedBack.Final)
}
