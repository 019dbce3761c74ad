package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

// logged is a log with n counted attempts.
func logged(n int) job.AttemptLog {
	var log job.AttemptLog
	for range n {
		log = log.Add(job.Attempt{Class: job.ClassTransient, Counted: true, Started: start, Version: "v1.3.0"})
	}
	return log
}

func TestCountingAcrossAttempts(t *testing.T) {
	t.Parallel()
	transient := failing(returning(errors.New("again")))
	throttled := failing(returning(job.Throttled(errors.New("slow down"), 90*time.Second)))

	t.Run("RetriedBelowMaxAttempts", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, transient)
		f.SetHeartbeatDetails(job.Report{Log: logged(8)})
		got := f.fail(t, assignment())
		require.False(t, got.Final)
		require.Empty(t, got.Report.Cause)
		require.Equal(t, 9, got.Report.Log.Counted)
		require.Positive(t, got.Delay)
		require.LessOrEqual(t, got.Delay, 5*time.Minute)
		require.Equal(t, []string{"v1.3.0", build}, got.Report.Log.Versions)
	})
	t.Run("AttemptsSpent", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, transient)
		f.SetHeartbeatDetails(job.Report{Log: logged(9)})
		got := f.fail(t, assignment())
		require.True(t, got.Final)
		require.Equal(t, job.CauseAttemptsSpent, got.Report.Cause)
		require.Equal(t, 10, got.Report.Log.Counted)
	})
	t.Run("ThrottledUncountedAndNotEarlierThanAsked", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, throttled)
		f.SetHeartbeatDetails(job.Report{Log: logged(9)})
		got := f.fail(t, assignment())
		require.False(t, got.Final)
		require.Equal(t, 9, got.Report.Log.Counted)
		require.Equal(t, 1, got.Report.Log.Throttled)
		require.GreaterOrEqual(t, got.Delay, 90*time.Second)
		require.Equal(t, start, got.Report.Log.ThrottledSince.UTC())
	})
	t.Run("ThrottledTooLong", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, throttled)
		log := logged(1).Add(job.Attempt{Class: job.ClassThrottled, Started: start.Add(-6 * time.Hour)})
		f.SetHeartbeatDetails(job.Report{Log: log})
		got := f.fail(t, assignment())
		require.True(t, got.Final)
		require.Equal(t, job.CauseThrottledTooLong, got.Report.Cause)
	})
	t.Run("ThrottlingBrokenByAVerdictStartsAnew", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, throttled)
		log := job.AttemptLog{}.Add(job.Attempt{Class: job.ClassThrottled, Started: start.Add(-6 * time.Hour)})
		log = log.Add(job.Attempt{Class: job.ClassTransient, Counted: true, Started: start.Add(-time.Hour)})
		f.SetHeartbeatDetails(job.Report{Log: log})
		require.False(t, f.fail(t, assignment()).Final)
	})
	t.Run("DeadlinePassed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, throttled)
		got := f.fail(t, assignment(func(a *job.Assignment) { a.Limits.Deadline = start.Add(80 * time.Second) }))
		require.True(t, got.Final)
		require.Equal(t, job.CauseDeadlinePassed, got.Report.Cause)
	})
	t.Run("AFinalClassKeepsItsCausePastTheDeadline", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, failing(returning(job.UnknownOutcome(errors.New("?")))))
		got := f.fail(t, assignment(func(a *job.Assignment) { a.Limits.Deadline = start }))
		require.Equal(t, job.CauseUnknownOutcome, got.Report.Cause)
	})
	t.Run("LeaseLostByTheAttemptBefore", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, transient)
		f.SetHeartbeatDetails(job.Report{Log: logged(1), Running: &job.Running{
			Attempt: 2, Started: start.Add(-time.Minute), Worker: "1@host-b", Version: "v1.2.0",
		}})
		log := f.fail(t, assignment()).Report.Log
		require.Equal(t, []int{3, 2, 1}, []int{log.Leases, log.Counted, log.Lost})
		lost := log.Entries[1]
		require.Equal(t, job.ClassLeaseLost, lost.Class)
		require.False(t, lost.Counted)
		require.Equal(t, "1@host-b", lost.Worker)
		require.Equal(t, time.Minute, lost.Ran)
		require.Equal(t, []string{"v1.3.0", "v1.2.0", build}, log.Versions)
	})
	t.Run("UnreadableLogStartsAnew", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, transient)
		f.SetHeartbeatDetails("not a report " + secret)
		v := f.fail(t, assignment())
		require.Equal(t, 1, v.Report.Log.Leases)
		require.Equal(t, 1, f.zap.FilterMessage("attempt log unreadable").Len())
		f.search(t, v, secret)
	})
	t.Run("NoVerdictOnSuccess", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(ctx context.Context, _ anyPayload) (any, error) {
			info, ok := job.AttemptFrom(ctx)
			return map[string]any{"ok": ok, "id": info.ID.String(), "version": info.Version}, nil
		})
		value, err := f.ExecuteActivity(string(orderType), assignment())
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, value.Get(&got))
		require.Equal(t, map[string]any{"ok": true, "id": "email.send:order-1001.receipt", "version": build}, got)
	})
}

func TestVersionRule(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("v", 50)
	run := func(t *testing.T, version string, rule job.VersionRule) (verdict, bool) {
		t.Helper()
		ran := false
		f := newFixture(t, activities.RunnerOptions{Version: version}, func(context.Context, anyPayload) (any, error) {
			ran = true
			return nil, errors.New("again")
		})
		f.SetHeartbeatDetails(job.Report{Log: logged(2)})
		return f.fail(t, assignment(func(a *job.Assignment) {
			a.Envelope.Replay = &job.ReplayRun{Number: 1, Rule: rule}
		})), ran
	}
	logOf := func(version string) []string {
		return job.AttemptLog{}.Add(job.Attempt{Class: job.ClassHandlerDefect, Counted: true, Version: version}).Versions
	}
	for name, c := range map[string]struct {
		version string
		rule    job.VersionRule
		runs    bool
	}{
		"AFailedBuildHandsBack":                   {build, job.VersionRule{Not: []string{build}}, false},
		"AnotherThanTheFixedBuildHandsBack":       {build, job.VersionRule{Only: "v2"}, false},
		"TheFixedBuildRuns":                       {"v2", job.VersionRule{Only: "v2"}, true},
		"ABuildThatDidNotFailRuns":                {"v2", job.VersionRule{Not: []string{build}}, true},
		"ALongVersionThatFailedHandsBack":         {long, job.VersionRule{Not: logOf(long)}, false},
		"ALongVersionWithTheSameBeginningRuns":    {long + "2", job.VersionRule{Not: logOf(long + "1")}, true},
		"AVersionWithAmpersandThatFailedHandBack": {"a&b", job.VersionRule{Not: logOf("a&b")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ran := run(t, c.version, c.rule)
			require.Equal(t, c.runs, ran)
			require.Equal(t, !c.runs, got.Benign)
			require.False(t, got.Final)
			if !c.runs {
				require.Equal(t, job.ClassTransient, got.Class)
				require.Equal(t, "version", got.Report.HandedBack)
				require.Equal(t, logged(2), got.Report.Log, "a hand-back leaves the log as it was")
				require.Positive(t, got.Delay)
			}
		})
	}
}
