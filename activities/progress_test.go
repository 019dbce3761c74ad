package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// stubborn does not encode: it panics.
type stubborn struct{}

func (stubborn) MarshalJSON() ([]byte, error) { panic("no") }

func TestProgress(t *testing.T) {
	t.Parallel()
	t.Run("TravelsBehindTheReportOfAFailure", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
			return nil, errors.Join(job.LeaseFrom(ctx).Progress(7), errors.New("later"))
		})
		_, err := f.ExecuteActivity(string(orderType), assignment())
		var app *temporal.ApplicationError
		require.ErrorAs(t, err, &app)
		var report job.Report
		var row int
		require.NoError(t, app.Details(&report, &row))
		require.Equal(t, 7, row)
		require.Equal(t, 1, report.Attempt)
	})
	t.Run("ComesBackToTheNextAttempt", func(t *testing.T) {
		t.Parallel()
		h := &heart{stored: []any{job.Report{Log: logged(1)}, 7}}
		h.run(t, func(ctx context.Context, _ anyPayload) (any, error) {
			var row int
			if found, err := job.LeaseFrom(ctx).Resume(&row); err != nil || !found || row != 7 {
				return nil, errors.New("nothing to resume")
			}
			return nil, nil
		})
	})
	t.Run("EndsWithAVerdict", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
			return nil, errors.Join(job.LeaseFrom(ctx).Progress("secret position"), job.Rejected(errors.New("never")))
		})
		v := f.fail(t, assignment())
		require.True(t, v.Final)
		require.Len(t, v.encoded.GetApplicationFailureInfo().GetDetails().GetPayloads(), 1, "the workflow does not get it")
	})
	for name, record := range map[string]func(ctx context.Context){
		"TooLarge":         func(ctx context.Context) { activity.RecordHeartbeat(ctx, strings.Repeat("x", job.MaxProgressBytes)) },
		"TooMany":          func(ctx context.Context) { activity.RecordHeartbeat(ctx, make([]any, 17)...) },
		"NotEncodable":     func(ctx context.Context) { activity.RecordHeartbeat(ctx, func() {}) },
		"PanicsInEncoding": func(ctx context.Context) { activity.RecordHeartbeat(ctx, stubborn{}) },
	} {
		t.Run("HeartbeatIsTheHandlersDefect/"+name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
				record(ctx)
				return nil, nil
			})
			require.Equal(t, job.ClassHandlerDefect, f.fail(t, assignment()).Class)
		})
	}
	t.Run("IsASnapshot", func(t *testing.T) {
		t.Parallel()
		h := &heart{stored: []any{job.Report{}}}
		beats := h.run(t, func(ctx context.Context, _ anyPayload) (any, error) {
			state := map[string]int{"row": 7}
			activity.RecordHeartbeat(ctx, state)
			state["row"] = 8
			h.wait(t)
			return nil, nil
		})
		require.JSONEq(t, `{"row":7}`, string(beats[len(beats)-1][1]))
	})
}

func TestStall(t *testing.T) {
	t.Parallel()
	stalls := func(stall time.Duration) func(a *job.Assignment) {
		return func(a *job.Assignment) { a.Limits.Stall, a.Limits.Timeout = stall, 10*time.Second }
	}
	run := func(t *testing.T, handle job.Handler[anyPayload], change func(*job.Assignment)) (verdict, error) {
		t.Helper()
		f := newFixture(t, activities.RunnerOptions{}, handle)
		_, err := f.ExecuteActivity(string(orderType), assignment(change))
		if err == nil {
			return verdict{}, nil
		}
		return readVerdict(t, err), err
	}
	t.Run("EndsAHandlerThatReportsNothing", func(t *testing.T) {
		t.Parallel()
		cause := make(chan error, 1)
		v, err := run(t, func(ctx context.Context, _ anyPayload) (any, error) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return nil, ctx.Err()
		}, stalls(50*time.Millisecond))
		require.Error(t, err)
		require.ErrorIs(t, <-cause, job.ErrStalled)
		require.Equal(t, job.ClassTimeout, v.Class)
		require.Equal(t, 1, v.Report.Log.Counted)
		require.Contains(t, v.Message, "no progress was reported for 50ms")
	})
	t.Run("SparesOneThatDoes", func(t *testing.T) {
		t.Parallel()
		_, err := run(t, func(ctx context.Context, _ anyPayload) (any, error) {
			for range 20 { // twice the limit
				timer := time.NewTimer(100 * time.Millisecond)
				select {
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				case <-timer.C:
				}
				if err := job.LeaseFrom(ctx).Progress(nil); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}, stalls(time.Second))
		require.NoError(t, err)
	})
	t.Run("IsUnknownToOlderBuilds", func(t *testing.T) {
		t.Parallel()
		_, err := run(t, func(ctx context.Context, _ anyPayload) (any, error) { return nil, ctx.Err() }, stalls(0))
		require.NoError(t, err)
	})
}

// Only an attempt's own verdict ends a job. Whatever else fails is retried: nobody else would write the dead letter.
func TestTroubleInOtherActivitiesIsRetried(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]func() error{
		"Panic":      func() error { panic("vault: nil map") },
		"FinalClass": func() error { return job.Rejected(errors.New("as if it were a verdict")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t, &lines{})
			env.RegisterActivityWithOptions(func(context.Context) error { return trouble() }, activity.RegisterOptions{Name: "RecordDeath"})
			_, err := env.ExecuteActivity("RecordDeath")
			require.False(t, readTrouble(t, err).NonRetryable())
		})
	}
}

func readTrouble(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	return app
}
