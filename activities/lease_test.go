package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	sdktestsuite "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// answering is a Temporal that answers every heartbeat alike.
type answering struct {
	err   error
	beats atomic.Int64
}

func (a *answering) RecordActivityHeartbeatWithOptions(context.Context, client.RecordActivityHeartbeatOptions) error {
	a.beats.Add(1)
	return a.err
}

// runLeased runs one attempt under a lease of two seconds, in a workflow, since only there a lease has a length. Its
// handler waits for its context to end and returns why.
func runLeased(t *testing.T, beats activities.Heartbeats) (cause, err error) {
	t.Helper()
	return runLeasedUntil(t, beats, func(*job.Assignment) {})
}

func runLeasedUntil(t *testing.T, beats activities.Heartbeats, change func(*job.Assignment)) (cause, err error) {
	t.Helper()
	causes := make(chan error, 1)
	var registry activities.Registry
	require.NoError(t, activities.Register(&registry, job.Definition{Type: orderType, Effects: job.EffectsNone, Owner: "team-billing"},
		func(ctx context.Context, _ anyPayload) (any, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		}))
	runner, err := registry.Runner(orderType, activities.RunnerOptions{Version: build, Heartbeats: beats})
	require.NoError(t, err)
	boundary, err := activities.NewBoundary()
	require.NoError(t, err)
	var suite sdktestsuite.WorkflowTestSuite
	suite.SetLogger(&lines{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(20 * time.Second)
	env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{boundary}})
	env.RegisterActivityWithOptions(runner.Run, activity.RegisterOptions{Name: string(orderType)})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, HeartbeatTimeout: 2 * time.Second, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		return workflow.ExecuteActivity(ctx, string(orderType), assignment(change, func(a *job.Assignment) {
			a.Limits.Deadline = time.Now().Add(time.Hour)
		})).Get(ctx, nil)
	})
	select {
	case cause = <-causes:
	default: // the handler never ran
	}
	return cause, env.GetWorkflowError()
}

// Trouble around the job ends the handler, says so in its context, and uses up nothing.
func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer     error
		cause      error
		handedBack string
	}{
		"TakenAway":   {serviceerror.NewNotFound("another attempt has it"), job.ErrLeaseLost, "lease"},
		"NobodyKnows": {serviceerror.NewUnavailable("connection refused"), job.ErrLeaseLost, "lease"},
		"Paused":      {activity.ErrActivityPaused, job.ErrPaused, "operator"},
		"Reset":       {activity.ErrActivityReset, job.ErrReset, "operator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			beats := &answering{err: c.answer}
			cause, err := runLeased(t, beats)
			require.ErrorIs(t, cause, c.cause)
			v := readVerdict(t, err)
			require.Equal(t, c.handedBack, v.Report.HandedBack)
			require.False(t, v.Final)
			require.True(t, v.Benign)
			require.Zero(t, v.Report.Log.Leases, "nothing is counted")
			require.Positive(t, beats.beats.Load())
		})
	}
	t.Run("Canceled", func(t *testing.T) {
		t.Parallel()
		cause, err := runLeased(t, &answering{err: temporal.NewCanceledError()})
		require.ErrorIs(t, cause, job.ErrCanceled)
		require.True(t, temporal.IsCanceledError(err), "got %v", err)
	})
}

// deaf answers nothing the first time, as a frontend that hangs does.
type deaf struct{ answering }

func (d *deaf) RecordActivityHeartbeatWithOptions(ctx context.Context, o client.RecordActivityHeartbeatOptions) error {
	if d.beats.Load() > 0 {
		return d.answering.RecordActivityHeartbeatWithOptions(ctx, o)
	}
	d.beats.Add(1)
	<-ctx.Done()
	return ctx.Err()
}

// One heartbeat that nobody answers does not lose the lease.
func TestUnansweredHeartbeat(t *testing.T) {
	t.Parallel()
	beats := &deaf{}
	cause, _ := runLeasedUntil(t, beats, func(a *job.Assignment) { a.Limits.Timeout = 3 * time.Second }) // the environment hears no beat
	require.ErrorIs(t, cause, job.ErrAttemptTimeout, "the lease of two seconds outlived the attempt's three")
	require.Greater(t, beats.beats.Load(), int64(2))
}

func lostInRow(n int, sole bool) job.Report {
	var log job.AttemptLog
	for range n {
		log = log.Add(job.Attempt{Class: job.ClassLeaseLost, Started: start, Version: build, Sole: sole})
	}
	return job.Report{Log: log}
}

func TestSuspects(t *testing.T) {
	t.Parallel()
	t.Run("RunAloneAndSaySo", func(t *testing.T) {
		t.Parallel()
		h := &heart{stored: []any{lostInRow(2, false)}}
		beats := h.run(t, func(context.Context, anyPayload) (any, error) {
			h.wait(t)
			return nil, nil
		})
		var report job.Report
		require.NoError(t, json.Unmarshal(beats[len(beats)-1][0], &report))
		require.True(t, report.Running.Sole)
		require.False(t, report.Running.Waiting)
	})
	t.Run("TakeTurns", func(t *testing.T) {
		t.Parallel()
		suspects := activities.NewSuspects()
		var now, most atomic.Int64
		attempts := make(chan error, 4)
		for range cap(attempts) {
			f := newFixture(t, activities.RunnerOptions{Suspects: suspects}, func(context.Context, anyPayload) (any, error) {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				timer := time.NewTimer(20 * time.Millisecond) // long enough for another to come in
				<-timer.C
				return nil, nil
			})
			f.SetHeartbeatDetails(lostInRow(2, false))
			go func() {
				_, err := f.ExecuteActivity(string(orderType), assignment())
				attempts <- err
			}()
		}
		for range cap(attempts) {
			require.NoError(t, <-attempts)
		}
		require.Equal(t, int64(1), most.Load())
	})
	t.Run("AreHandedBackWhenTheTurnDoesNotCome", func(t *testing.T) {
		t.Parallel()
		suspects := activities.NewSuspects()
		running, release := make(chan struct{}), make(chan struct{})
		first := newFixture(t, activities.RunnerOptions{Suspects: suspects}, func(context.Context, anyPayload) (any, error) {
			close(running)
			<-release
			return nil, nil
		})
		first.SetHeartbeatDetails(lostInRow(2, false))
		ended := make(chan error, 1)
		go func() {
			_, err := first.ExecuteActivity(string(orderType), assignment())
			ended <- err
		}()
		<-running
		second := newFixture(t, activities.RunnerOptions{Suspects: suspects}, failing(func() error { return errors.New("it ran") }))
		before := lostInRow(2, false)
		before.HandBacks = 3
		second.SetHeartbeatDetails(before)
		v := second.fail(t, assignment())
		require.Equal(t, "turn", v.Report.HandedBack)
		require.Equal(t, 4, v.Report.HandBacks)
		require.GreaterOrEqual(t, v.Delay, 1280*time.Millisecond, "each hand-back in a row stays away longer")
		require.True(t, v.Report.Log.Suspect())
		close(release)
		require.NoError(t, <-ended)
	})
	t.Run("GuiltyAfterItsLimitAndNeverRunAgain", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, failing(func() error { return errors.New("it ran") }))
		f.SetHeartbeatDetails(lostInRow(3, true))
		v := f.fail(t, assignment())
		require.Equal(t, job.ClassLeaseLost, v.Class)
		require.Equal(t, job.CauseLeaseLosses, v.Report.Cause)
		require.True(t, v.Final)
		require.Equal(t, 3, v.Report.Log.Lost)
		require.NotEmpty(t, v.Report.Fingerprint)
	})
	t.Run("NotGuiltyWhenItRanBesideOthers", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, anyPayload) (any, error) { return "ran", nil })
		f.SetHeartbeatDetails(lostInRow(30, false))
		_, err := f.ExecuteActivity(string(orderType), assignment())
		require.NoError(t, err)
	})
}
