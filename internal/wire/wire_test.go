package wire_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	sdktestsuite "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// seen returns err as a workflow sees it when its activity fails with it, without a second attempt.
func seen(t *testing.T, err error) error {
	t.Helper()
	var suite sdktestsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(20 * time.Second)
	env.RegisterActivityWithOptions(func(context.Context) error { return err }, activity.RegisterOptions{Name: "attempt"})
	var got error
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		got = workflow.ExecuteActivity(ctx, "attempt").Get(ctx, nil)
		return nil
	})
	require.True(t, env.IsWorkflowCompleted())
	require.Error(t, got)
	return got
}

// received returns err as it comes from the server.
func received(err error) error {
	failures := temporal.GetDefaultFailureConverter()
	return failures.FailureToError(failures.ErrorToFailure(err))
}

func report(cause job.Cause) job.Report {
	log := job.AttemptLog{}.Add(job.Attempt{
		Class: job.ClassTransient, Counted: true, Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Worker: "w", Version: "v1",
	})
	return job.Report{Log: log, Cause: cause, Fingerprint: "f", Version: "v1"}
}

func TestEveryClassRoundTrips(t *testing.T) {
	t.Parallel()
	for _, class := range job.AllClasses() {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			f := &job.Failure{Class: class, Message: "no", Final: class.Final(), Report: report("")}
			got := wire.Decode(seen(t, wire.Encode(f)))
			require.Equal(t, class, got.Class)
			require.Equal(t, "no", got.Message)
			want := job.CauseAttemptsSpent
			if class.Final() {
				want = class.FinalCause()
			}
			require.Equal(t, report(want), got.Report)
		})
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	as := func(f *job.Failure) *temporal.ApplicationError {
		var app *temporal.ApplicationError
		require.ErrorAs(t, wire.Encode(f), &app)
		return app
	}
	t.Run("Retry", func(t *testing.T) {
		t.Parallel()
		app := as(&job.Failure{Class: job.ClassThrottled, Delay: time.Minute})
		require.False(t, app.NonRetryable())
		require.Equal(t, time.Minute, app.NextRetryDelay())
		require.NotEqual(t, temporal.ApplicationErrorCategoryBenign, app.Category())
	})
	t.Run("FinalHasNoDelay", func(t *testing.T) {
		t.Parallel()
		app := as(&job.Failure{Class: job.ClassThrottled, Delay: time.Minute, Final: true})
		require.True(t, app.NonRetryable())
		require.Zero(t, app.NextRetryDelay())
	})
	t.Run("BenignHandBack", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, temporal.ApplicationErrorCategoryBenign, as(&job.Failure{Class: job.ClassTransient, Benign: true}).Category())
	})
}

func timeout(kind enumspb.TimeoutType, cause error, details ...any) error {
	return temporal.NewTimeoutError(kind, cause, details...)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const (
		scheduleToClose = enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE
		scheduleToStart = enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
		startToClose    = enumspb.TIMEOUT_TYPE_START_TO_CLOSE
		heartbeat       = enumspb.TIMEOUT_TYPE_HEARTBEAT
	)
	running := report("")
	running.Running = &job.Running{Attempt: 2}
	verdict := wire.Encode(&job.Failure{Class: job.ClassDependencyDown, Message: "down", Report: report("")})
	for name, c := range map[string]struct {
		err     error
		class   job.Class
		cause   job.Cause
		leases  int
		started bool
	}{
		"NeverTakenUntilTheDeadline": {timeout(scheduleToClose, nil), job.ClassTimeout, job.CauseDeadlinePassed, 0, false},
		"NeverTakenInTime":           {timeout(scheduleToStart, nil), job.ClassTimeout, job.CauseDeadlinePassed, 0, false},
		"TooLong":                    {timeout(startToClose, nil), job.ClassTimeout, job.CauseDeadlinePassed, 0, true},
		"LeaseLost":                  {timeout(heartbeat, nil), job.ClassLeaseLost, job.CauseDeadlinePassed, 0, true},
		"LeaseLostWithALog":          {timeout(heartbeat, nil, running), job.ClassLeaseLost, job.CauseDeadlinePassed, 2, true},
		"DeadlineAfterALostLease":    {timeout(scheduleToClose, timeout(heartbeat, nil)), job.ClassLeaseLost, job.CauseDeadlinePassed, 0, true},
		"DeadlineWhileRunning":       {timeout(scheduleToClose, nil, running), job.ClassTimeout, job.CauseDeadlinePassed, 1, true},
		"DeadlineAfterAVerdict":      {timeout(scheduleToClose, verdict), job.ClassDependencyDown, job.CauseDeadlinePassed, 1, true},
		"DetailsOfAnother":           {timeout(heartbeat, nil, "step-3"), job.ClassLeaseLost, job.CauseDeadlinePassed, 0, true},
		"UnknownType":                {temporal.NewApplicationError("secret", "made-up"), job.ClassHandlerDefect, job.CausePoison, 0, true},
		"UnknownTypeWithDetails":     {temporal.NewApplicationError("secret", "made-up", "x"), job.ClassHandlerDefect, job.CausePoison, 0, true},
		"ACauseIsKept":               {wire.Encode(&job.Failure{Class: job.ClassThrottled, Report: report(job.CauseThrottledTooLong)}), job.ClassThrottled, job.CauseThrottledTooLong, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := received(c.err)
			got := wire.Decode(err)
			require.Equal(t, []any{c.class, c.cause, c.leases}, []any{got.Class, got.Report.Cause, got.Report.Log.Leases})
			require.NotContains(t, got.Message, "secret")
			require.Equal(t, c.started, wire.Started(err))
		})
	}
}

func TestDecodeInsideTheWorkflow(t *testing.T) {
	t.Parallel()
	t.Run("NoTemporalErrorIsTransient", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, job.ClassTransient, wire.Decode(errors.New("x")).Class)
	})
	t.Run("WrappingHidesNoClass", func(t *testing.T) {
		t.Parallel()
		err := received(wire.Encode(&job.Failure{Class: job.ClassDependencyDown, Report: report("")}))
		require.Equal(t, job.ClassDependencyDown, wire.Decode(fmt.Errorf("attempt: %w", err)).Class)
	})
}

func TestDeadLettered(t *testing.T) {
	t.Parallel()
	want := job.DeadLettered{
		DeadLetterID: "dl_1", Class: job.ClassRejected, Cause: job.CausePoison, Attempts: 3, Versions: []string{"v1"},
		RunID: "run-1", PayloadRef: "pl_1", FailedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		got, ok := wire.DecodeDeadLettered(seen(t, wire.EncodeDeadLettered(want)))
		require.True(t, ok)
		require.Equal(t, want, got)
	})
	for name, err := range map[string]error{
		"NotAVerdict":    wire.Encode(&job.Failure{Class: job.ClassRejected}),
		"NoDetails":      temporal.NewApplicationError("x", job.TypeDeadLettered),
		"OtherDetails":   temporal.NewApplicationError("x", job.TypeDeadLettered, 7),
		"ATemporalError": timeout(enumspb.TIMEOUT_TYPE_HEARTBEAT, nil),
		"Nil":            nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, ok := wire.DecodeDeadLettered(received(err))
			require.False(t, ok)
		})
	}
}
