package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

type panickyResult struct{}

func (panickyResult) MarshalJSON() ([]byte, error) { panic("encode " + secret) }

type refusingResult struct{}

func (refusingResult) MarshalJSON() ([]byte, error) { return nil, errors.New("no form for " + secret) }

func TestResults(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]any{
		"TooLarge":          strings.Repeat("x", job.MaxPayloadBytes),
		"NotEncodable":      make(chan int),
		"MarshalJSONPanics": panickyResult{},
		"MarshalJSONFails":  refusingResult{},
		"InvalidRawMessage": json.RawMessage("{"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, activities.RunnerOptions{}, func(context.Context, anyPayload) (any, error) { return result, nil })
			got := f.fail(t, assignment())
			require.Equal(t, job.ClassHandlerDefect, got.Class)
			require.Equal(t, job.CausePoison, got.Report.Cause)
			f.search(t, got, secret)
		})
	}
	t.Run("NilIsNull", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, anyPayload) (any, error) { return nil, nil })
		value, err := f.ExecuteActivity(string(orderType), assignment())
		require.NoError(t, err)
		var got any
		require.NoError(t, value.Get(&got))
		require.Nil(t, got)
	})
	t.Run("TheErrorWinsOverTheResult", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, anyPayload) (any, error) {
			return make(chan int), job.Rejected(errors.New("no"))
		})
		require.Equal(t, job.ClassRejected, f.fail(t, assignment()).Class)
	})
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	short := func(a *job.Assignment) { a.Limits.Timeout = 10 * time.Millisecond }
	t.Run("TheContextEndsWithTheAttempt", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		got := f.fail(t, assignment(short))
		require.Equal(t, job.ClassTimeout, got.Class)
		require.Equal(t, 1, got.Report.Log.Counted)
		require.False(t, got.Final)
	})
	t.Run("AnOutcomeThatTheHandlerCallsUnknownIsNotRetried", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(d *job.Definition) {
			d.Classify = func(err error) job.Class {
				if errors.Is(err, context.DeadlineExceeded) {
					return job.ClassUnknownOutcome
				}
				return ""
			}
		})
		got := f.fail(t, assignment(short))
		require.Equal(t, job.ClassUnknownOutcome, got.Class)
		require.True(t, got.Final)
	})
	t.Run("AVerdictIsKeptAfterTheTimeout", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
			<-ctx.Done()
			return nil, job.UnknownOutcome(ctx.Err())
		})
		require.Equal(t, job.ClassUnknownOutcome, f.fail(t, assignment(short)).Class)
	})
	t.Run("ThePanickingErrorOfATimeoutIsSurvived", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
			<-ctx.Done()
			return nil, explosiveError{}
		})
		require.Equal(t, job.ClassTimeout, f.fail(t, assignment(short)).Class)
	})
}

func TestClassifiers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		classify func(error) job.Class
		err      error
		want     job.Class
	}{
		"MapsTheHandlersErrors":   {func(error) job.Class { return job.ClassDependencyDown }, errors.New("x"), job.ClassDependencyDown},
		"IsNotAskedAboutAClass":   {func(error) job.Class { return job.ClassDependencyDown }, job.Rejected(nil), job.ClassRejected},
		"AnUnknownClassTransient": {func(error) job.Class { return "made-up" }, errors.New("x"), job.ClassTransient},
		"PanicsADefect":           {func(error) job.Class { panic(secret) }, errors.New("x"), job.ClassHandlerDefect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, activities.RunnerOptions{}, failing(returning(c.err)),
				func(d *job.Definition) { d.Classify = c.classify })
			got := f.fail(t, assignment())
			require.Equal(t, c.want, got.Class)
			f.search(t, got, secret)
		})
	}
}
