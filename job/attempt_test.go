package job_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
)

var started = time.Date(2026, 5, 1, 12, 0, 0, 123_456_789, time.FixedZone("CEST", 2*3600))

// maxReportBytes is half of what the server allows a failure.
const maxReportBytes = 2048

func TestAttemptLogAdd(t *testing.T) {
	t.Parallel()
	t.Run("CountersAreExact", func(t *testing.T) {
		t.Parallel()
		var log job.AttemptLog
		for range 20 {
			log = log.Add(job.Attempt{Class: job.ClassTransient, Counted: true, Version: "v1"})
			log = log.Add(job.Attempt{Class: job.ClassThrottled})
			log = log.Add(job.Attempt{Class: job.ClassThrottled})
			log = log.Add(job.Attempt{Class: job.ClassLeaseLost, Version: "v2"})
			log = log.Add(job.Attempt{Class: job.ClassUnknownJobType, Version: "v3"})
		}
		require.Equal(t, []int{100, 20, 40, 20}, []int{log.Leases, log.Counted, log.Throttled, log.Lost})
		require.Equal(t, []string{"v1", "v2"}, log.Versions, "only verdicts and lost leases speak against a build")
	})
	t.Run("FirstAndLatestAreKept", func(t *testing.T) {
		t.Parallel()
		var log job.AttemptLog
		for range 50 {
			log = log.Add(job.Attempt{Class: job.ClassTransient, Counted: true})
		}
		seqs := []int{}
		for _, entry := range log.Entries {
			seqs = append(seqs, entry.Seq)
		}
		require.Equal(t, 1, seqs[0])
		require.Equal(t, 50, seqs[len(seqs)-1])
		require.Equal(t, 50-len(seqs)+2, seqs[1], "after the first come the latest, without a gap")
		require.IsIncreasing(t, seqs)
	})
	t.Run("TimesAreUTCMilliseconds", func(t *testing.T) {
		t.Parallel()
		log := job.AttemptLog{}.Add(job.Attempt{Class: job.ClassTransient, Started: started})
		require.Equal(t, time.Date(2026, 5, 1, 10, 0, 0, 123_000_000, time.UTC), log.Entries[0].Started)
	})
	t.Run("ThrottledSinceEndsWithTheRow", func(t *testing.T) {
		t.Parallel()
		first := job.AttemptLog{}.Add(job.Attempt{Class: job.ClassThrottled, Started: started})
		second := first.Add(job.Attempt{Class: job.ClassThrottled, Started: started.Add(time.Hour)})
		require.True(t, second.ThrottledSince.Equal(first.Entries[0].Started), "the row began with the first")
		require.Nil(t, second.Add(job.Attempt{Class: job.ClassTransient}).ThrottledSince)
	})
	t.Run("SuspectWhileLossesFollowEachOther", func(t *testing.T) {
		t.Parallel()
		log := job.AttemptLog{}.Add(job.Attempt{Class: job.ClassLeaseLost})
		require.False(t, log.Suspect())
		log = log.Add(job.Attempt{Class: job.ClassLeaseLost}).Add(job.Attempt{Class: job.ClassLeaseLost, Sole: true})
		require.True(t, log.Suspect())
		require.Equal(t, []int{3, 3, 1}, []int{log.Lost, log.LostInRow, log.LostSole})
		log = log.Add(job.Attempt{Class: job.ClassTransient, Counted: true, Sole: true})
		require.False(t, log.Suspect())
		require.Equal(t, []int{3, 0, 1}, []int{log.Lost, log.LostInRow, log.LostSole})
	})
	t.Run("RepeatedVersionIsTheNewest", func(t *testing.T) {
		t.Parallel()
		var log job.AttemptLog
		for _, v := range []string{"a", "b", "a", ""} {
			log = log.Add(job.Attempt{Class: job.ClassTransient, Counted: true, Version: v})
		}
		require.Equal(t, []string{"b", "a"}, log.Versions)
	})
}

func TestAttemptLogAddLeavesTheReceiver(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log := anyLog().Draw(t, "log")
		before := encode(t, log)
		one := log.Add(anyAttempt().Draw(t, "one"))
		kept := encode(t, one)
		log.Add(anyAttempt().Draw(t, "other")).Add(anyAttempt().Draw(t, "third"))
		require.JSONEq(t, before, encode(t, log), "the receiver changed")
		require.JSONEq(t, kept, encode(t, one), "a second Add to the same log changed the result of the first")
	})
}

// Names come from hosts and build systems: they may be long, not UTF-8, or cost JSON six bytes per character.
func anyName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(0, 300, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(30, 300), func(n int) string { return strings.Repeat("w", n) }),
		rapid.Map(rapid.IntRange(1, 90), func(n int) string { return strings.Repeat("<\x00\"", n) }),
	)
}

func anyAttempt() *rapid.Generator[job.Attempt] {
	return rapid.Custom(func(t *rapid.T) job.Attempt {
		class := rapid.SampledFrom(job.AllClasses()).Draw(t, "class")
		return job.Attempt{
			Class: class, Counted: class.Counted(), Sole: rapid.Bool().Draw(t, "sole"), Worker: anyName().Draw(t, "worker"), Version: anyName().Draw(t, "version"),
			Started: started.Add(time.Duration(rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "after"))),
			Ran:     time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "ran")),
		}
	})
}

func anyLog() *rapid.Generator[job.AttemptLog] {
	return rapid.Custom(func(t *rapid.T) job.AttemptLog {
		log := job.AttemptLog{}
		for _, a := range rapid.SliceOfN(anyAttempt(), 0, 14).Draw(t, "attempts") {
			log = log.Add(a)
		}
		return log
	})
}

func encode(t require.TestingT, v any) string {
	encoded, err := json.Marshal(v)
	require.NoError(t, err)
	return string(encoded)
}

func TestAttemptLogIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("WhateverTheNames", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			log := anyLog().Draw(t, "log")
			encoded := encode(t, job.Report{Log: log})
			require.LessOrEqual(t, len(encoded), maxReportBytes, encoded)
		})
	})
	t.Run("AtItsWorst", func(t *testing.T) {
		t.Parallel()
		// A million leases of a year each; of lone losses a policy allows a hundred.
		const year = 365 * 24 * time.Hour
		log := job.AttemptLog{Leases: 1e6, Counted: 1e6, Throttled: 1e6, Lost: 1e6, LostSole: 100}
		for i := range 20 {
			log = log.Add(job.Attempt{
				Class: job.ClassUnsupportedSchema, Counted: true, Sole: true, Started: started, Ran: year,
				Worker: strings.Repeat("w", 300), Version: strings.Repeat("v", 300+i),
			})
		}
		last := job.Attempt{
			Class: job.ClassThrottled, Started: started, Ran: year,
			Worker: strings.Repeat("w", 300), Version: strings.Repeat("v", 300),
		}
		lost := log
		for range 20 {
			sole := last
			sole.Class, sole.Sole = job.ClassLeaseLost, true
			lost = lost.Add(sole)
		}
		for _, worst := range []job.AttemptLog{log, log.Add(last), lost} {
			encoded := encode(t, job.Report{Log: worst})
			require.LessOrEqual(t, len(encoded), maxReportBytes, encoded)
		}
	})
}

func TestAttemptLogNames(t *testing.T) {
	t.Parallel()
	add := func(version string) string {
		return job.AttemptLog{}.Add(job.Attempt{Class: job.ClassTransient, Counted: true, Version: version}).Versions[0]
	}
	t.Run("ShortOnesAreKept", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "v1.2.3-rc.1+build", add("v1.2.3-rc.1+build"))
	})
	t.Run("LongOnesStayApart", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("v", 100)
		require.NotEqual(t, add(long+"1"), add(long+"2"))
	})
	t.Run("InvalidUTF8IsReadableAndApart", func(t *testing.T) {
		t.Parallel()
		one, other := add("v\xff"+strings.Repeat("é", 60)), add("v\xfe"+strings.Repeat("é", 60))
		require.True(t, utf8.ValidString(one), "%q", one)
		require.NotEqual(t, one, other)
	})
	t.Run("ClippingAgainChangesNothing", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			name := anyName().Filter(func(s string) bool { return s != "" }).Draw(t, "name")
			require.Equal(t, add(name), add(add(name)))
			require.False(t, job.VersionRule{Not: []string{add(name)}}.Allows(name), "a clipped name still names its build")
		})
	})
}

func TestAttemptFrom(t *testing.T) {
	t.Parallel()
	_, ok := job.AttemptFrom(t.Context())
	require.False(t, ok, "outside a handler")
	info := job.AttemptInfo{ID: job.KeyID{Type: "email.send", Key: "k"}, Number: 2}
	got, ok := job.AttemptFrom(job.WithAttempt(t.Context(), info))
	require.True(t, ok)
	require.Equal(t, info, got)
}
