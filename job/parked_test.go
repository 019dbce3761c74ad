package job_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// newParked returns a dead letter that waits for a replay, of a class that needs a repaired build.
func newParked() *job.Parked {
	return &job.Parked{
		State:   job.StateDeadLettered,
		Policy:  job.DefaultPolicy().Replay,
		Current: job.DeadLettered{Class: job.ClassHandlerDefect, PayloadRef: "pl_a", Versions: []string{"v1", "v2"}},
	}
}

func requireCode(t *testing.T, want job.RefusalCode, got *job.Refusal) {
	t.Helper()
	if want == "" {
		require.Nil(t, got)
		return
	}
	require.NotNil(t, got, "want the refusal %s", want)
	require.Equal(t, want, got.Code)
	require.NotEmpty(t, got.Detail)
}

func TestCheckReplay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		edit func(*job.Parked)
		want job.RefusalCode
	}{
		{"OK", func(*job.Parked) {}, ""},
		{"NotBeforeReached", func(p *job.Parked) { p.NotBefore = started }, ""},
		{"LastReplayLeft", func(p *job.Parked) { p.Replays = p.Policy.Max - 1 }, ""},
		{"AlreadyResolved", func(p *job.Parked) { p.State = job.StateResolved }, job.RefusedAlreadyResolved},
		{"Discarded", func(p *job.Parked) { p.State = job.StateDiscarded }, job.RefusedClosed},
		{"Expired", func(p *job.Parked) { p.State = job.StateExpired }, job.RefusedClosed},
		{"AlreadyReplaying", func(p *job.Parked) { p.Open = &job.ReplayRecord{Number: 1} }, job.RefusedAlreadyReplaying},
		{"ReplayLimit", func(p *job.Parked) { p.Replays = p.Policy.Max }, job.RefusedReplayLimit},
		{"TooEarly", func(p *job.Parked) { p.NotBefore = started.Add(1) }, job.RefusedTooEarly},
		{"NeedsReconcile", func(p *job.Parked) { p.Current.Class = job.ClassUnknownOutcome }, job.RefusedNeedsReconcile},
		{"NeedsEveryEffectReconciled", func(p *job.Parked) {
			p.Current.Class, p.Reconciled, p.Unsettled = job.ClassUnknownOutcome, true, []string{"mail"}
		}, job.RefusedNeedsReconcile},
		{"Reconciled", func(p *job.Parked) { p.Current.Class, p.Reconciled = job.ClassUnknownOutcome, true }, ""},
		{"FailedAgainAfterReconcile", func(p *job.Parked) {
			p.Reconciled = true
			p.Fail(job.DeadLettered{Class: job.ClassUnknownOutcome, PayloadRef: "pl_a"})
		}, job.RefusedNeedsReconcile},
		{"NoPayloadRef", func(p *job.Parked) { p.Current.PayloadRef = "" }, job.RefusedPayloadUnavailable},
		{"PayloadUnavailable", func(p *job.Parked) {
			p.Current.Class, p.PayloadGone = job.ClassPayloadUnavailable, true
		}, job.RefusedPayloadUnavailable},
		{"ResolvedBeforeAllElse", func(p *job.Parked) {
			*p = job.Parked{State: job.StateResolved, Open: &job.ReplayRecord{}, NotBefore: started.Add(1)}
		}, job.RefusedAlreadyResolved},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newParked()
			c.edit(p)
			requireCode(t, c.want, p.CheckReplay(started))
		})
	}
}

func TestVersionRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		class   job.Class
		request job.Request
		rule    job.VersionRule
		refusal job.RefusalCode
	}{
		{"RepairNeeded", job.ClassHandlerDefect, job.Request{}, job.VersionRule{Not: []string{"v1", "v2"}}, ""},
		{"RepairNamed", job.ClassRejected, job.Request{Fixed: "v3"}, job.VersionRule{Not: []string{"v1", "v2"}, Only: "v3"}, ""},
		{"UnchangedVersion", job.ClassLeaseLost, job.Request{Fixed: "v2"}, job.VersionRule{Not: []string{"v1", "v2"}, Only: "v2"}, job.RefusedVersionUnchanged},
		{"Forced", job.ClassHandlerDefect, job.Request{Force: true}, job.VersionRule{}, ""},
		{"ForcedOntoFailedVersion", job.ClassHandlerDefect, job.Request{Fixed: "v2", Force: true}, job.VersionRule{Only: "v2"}, ""},
		{"AnyBuildWillDo", job.ClassTransient, job.Request{}, job.VersionRule{}, ""},
		{"FailedVersionWillDo", job.ClassDependencyDown, job.Request{Fixed: "v1"}, job.VersionRule{Only: "v1"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newParked()
			p.Current.Class = c.class
			require.Equal(t, c.rule, p.Rule(c.request))
			requireCode(t, c.refusal, p.CheckVersion(c.request))
		})
	}
	t.Run("Allows", func(t *testing.T) {
		t.Parallel()
		require.True(t, job.VersionRule{}.Allows(""))
		require.True(t, job.VersionRule{Not: []string{"v1"}}.Allows("v2"))
		require.False(t, job.VersionRule{Not: []string{"v1"}}.Allows("v1"))
		require.True(t, job.VersionRule{Only: "v3"}.Allows("v3"))
		require.False(t, job.VersionRule{Only: "v3"}.Allows("v30"))
	})
}

func TestCheckDiscard(t *testing.T) {
	t.Parallel()
	for state, want := range map[job.State]job.RefusalCode{
		job.StateDeadLettered: "", job.StateResolved: job.RefusedAlreadyResolved, job.StateDiscarded: job.RefusedClosed,
		job.StateExpired: job.RefusedClosed, job.StateReplaying: job.RefusedAlreadyReplaying,
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			p := newParked()
			p.State = state
			requireCode(t, want, p.CheckDiscard())
		})
	}
}

func TestNameRequest(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"actor":"ada","reason":"r"}`)
	name := func(p *job.Parked) string { return p.NameRequest(job.RequestReplay, raw) }
	decide := func(p *job.Parked, accepted bool) string {
		id := name(p)
		p.Remember(job.Decision{Kind: job.RequestReplay, RequestID: id, Accepted: accepted})
		return id
	}
	t.Run("SameBeforeADecision", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, name(newParked()), name(newParked()))
		require.LessOrEqual(t, len(name(newParked())), job.MaxNameBytes)
	})
	t.Run("SameAfterAcceptance", func(t *testing.T) {
		t.Parallel()
		p := newParked()
		accepted := decide(p, true)
		require.Equal(t, accepted, name(p))
	})
	t.Run("AnotherAfterEachRefusal", func(t *testing.T) {
		t.Parallel()
		p, seen := newParked(), map[string]bool{}
		for range 50 {
			id := decide(p, false)
			require.False(t, seen[id], "%s was refused before", id)
			seen[id] = true
		}
		accepted := decide(p, true)
		require.False(t, seen[accepted])
		require.Equal(t, accepted, name(p))
	})
	t.Run("AnotherAfterAnOutcome", func(t *testing.T) {
		t.Parallel()
		p := newParked()
		before := decide(p, true)
		p.Finished++
		require.NotEqual(t, before, name(p))
	})
	t.Run("AnotherForOtherContentOrKind", func(t *testing.T) {
		t.Parallel()
		p := newParked()
		require.NotEqual(t, name(p), p.NameRequest(job.RequestReplay, []byte(`{"actor":"bob","reason":"r"}`)))
		require.NotEqual(t, name(p), p.NameRequest(job.RequestDiscard, raw))
	})
	t.Run("AnotherAfterMoreRefusalsThanAreRemembered", func(t *testing.T) {
		t.Parallel()
		p, seen := newParked(), map[string]bool{}
		for range 250 {
			id := decide(p, false)
			require.False(t, seen[id], "%s was refused before", id)
			seen[id] = true
		}
		accepted := decide(p, true)
		require.False(t, seen[accepted])
		for i := range 50 {
			p.Remember(job.Decision{Kind: job.RequestAnnotate, RequestID: fmt.Sprint(i)})
			require.Equal(t, accepted, name(p), "an accepted request keeps its name while it is remembered")
		}
	})
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	t.Run("AreKeptByKind", func(t *testing.T) {
		t.Parallel()
		p := newParked()
		given := job.Decision{Kind: job.RequestReplay, RequestID: "r1", Accepted: true, Replay: 1}
		p.Remember(given)
		got, ok := p.Decided(job.RequestReplay, "r1")
		require.True(t, ok)
		require.Equal(t, given, got)
		_, ok = p.Decided(job.RequestDiscard, "r1")
		require.False(t, ok)
		_, ok = p.Decided(job.RequestReplay, "r2")
		require.False(t, ok)
	})
	t.Run("AreBoundedAndTheOldestIsForgotten", func(t *testing.T) {
		t.Parallel()
		p := newParked()
		for i := range 2000 {
			p.Remember(job.Decision{Kind: job.RequestReplay, RequestID: fmt.Sprint(i)})
		}
		require.Len(t, p.Decisions, 1000)
		_, ok := p.Decided(job.RequestReplay, "999")
		require.False(t, ok)
		_, ok = p.Decided(job.RequestReplay, "1000")
		require.True(t, ok)
	})
}

func TestParkedFail(t *testing.T) {
	t.Parallel()
	again := job.DeadLettered{Class: job.ClassRejected, PayloadRef: "pl_a", Versions: []string{"v1", "v3"}, FailedAt: started.Add(time.Hour)}
	t.Run("SamePayloadMergesVersions", func(t *testing.T) {
		t.Parallel()
		p := newParked()
		p.State = job.StateReplaying
		p.Fail(again)
		require.Equal(t, []string{"v2", "v1", "v3"}, p.Current.Versions)
		require.Equal(t, job.ClassRejected, p.Current.Class)
		require.Equal(t, again.FailedAt, p.Current.FailedAt)
		require.Equal(t, job.StateDeadLettered, p.State)
		require.Equal(t, []string{"v1", "v3"}, again.Versions, "the argument stays as it was")
	})
	t.Run("NewPayloadReplacesThem", func(t *testing.T) {
		t.Parallel()
		p, other := newParked(), again
		other.PayloadRef = "pl_b"
		p.Fail(other)
		require.Equal(t, other, p.Current)
	})
	t.Run("VersionsStayBounded", func(t *testing.T) {
		t.Parallel()
		p := newParked()
		for i := range 100 {
			p.Fail(job.DeadLettered{PayloadRef: "pl_a", Versions: []string{fmt.Sprint("w", i)}})
		}
		require.LessOrEqual(t, len(p.Current.Versions), 8)
		require.Contains(t, p.Current.Versions, "w99")
	})
}
