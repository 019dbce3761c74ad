package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

func testRecordFailure(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("RoundTrip", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		want := newLetter(1, 0)
		require.NoError(t, db.RecordFailure(t.Context(), want, newPayload(want.PayloadRef)))
		want.Failures = []job.FailureRecord{want.FailureRecord}
		require.Equal(t, want, read(t, db, 1))
	})
	t.Run("BareRecord", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		at := begin()
		want := job.DeadLetter{
			ID: id(1), State: job.StateDeadLettered, UpdatedAt: at, KeepUntil: at,
			FailureRecord: job.FailureRecord{RunID: "r", FirstFailure: at, LastFailure: at},
		}
		record(t, db, want)
		want.Failures = []job.FailureRecord{want.FailureRecord}
		require.Equal(t, want, read(t, db, 1))
	})
	t.Run("SameRunChangesNothing", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		require.NoError(t, db.SaveReplay(t.Context(), newReplay(1, 1)))
		before := read(t, db, 1)
		again := newLetter(1, 5)
		again.RunID, again.Owner = before.RunID, "somebody else"
		require.NoError(t, db.RecordFailure(t.Context(), again, newPayload(again.PayloadRef)))
		require.Equal(t, before, read(t, db, 1))
		_, err := db.SealedPayload(t.Context(), again.PayloadRef)
		require.ErrorIs(t, err, job.ErrPayloadGone)
	})
	t.Run("NewRunBecomesCurrent", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		first, second := newLetter(1, 0), newLetter(1, 1)
		second.Owner, second.Runbook, second.Subject, second.Tags = "team-2", "https://two.example", "subject-8", nil
		second.Class, second.Cause, second.Version, second.Fingerprint = job.ClassTimeout, job.CauseAttemptsSpent, "v2", "fp-2"
		record(t, db, first)
		record(t, db, second)
		want := second
		want.Failures = []job.FailureRecord{first.FailureRecord, second.FailureRecord}
		require.Equal(t, want, read(t, db, 1))
	})
	t.Run("ClosedLetterOpensAgain", func(t *testing.T) {
		t.Parallel()
		for _, closed := range []job.State{job.StateResolved, job.StateDiscarded, job.StateExpired} {
			db := open(t)
			record(t, db, newLetter(1, 0))
			require.NoError(t, db.SaveRequest(t.Context(), job.RequestRecord{
				DeadLetterID: id(1), RequestID: "r", Kind: job.RequestDiscard, At: begin(), State: closed,
			}))
			record(t, db, newLetter(1, 1))
			require.Equal(t, job.StateDeadLettered, read(t, db, 1).State)
		}
	})
	t.Run("ReplayLeavesStateToSaveReplay", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		require.NoError(t, db.SaveReplay(t.Context(), newReplay(1, 1)))
		failedAgain := newLetter(1, 1)
		failedAgain.Replay = 1
		record(t, db, failedAgain)
		got := read(t, db, 1)
		require.Equal(t, job.StateReplaying, got.State)
		require.Equal(t, failedAgain.RunID, got.RunID)
		require.Equal(t, 1, got.Replays)
		require.Len(t, got.Failures, 2)
	})
}

func testDeadLetter(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("NotFound", func(t *testing.T) {
		t.Parallel()
		_, err := open(t).DeadLetter(t.Context(), "dl_nowhere")
		require.ErrorIs(t, err, job.ErrNotFound)
		require.Contains(t, err.Error(), "dl_nowhere")
	})
	t.Run("WholeLineageOldestFirst", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		var want []job.FailureRecord
		for run := range 12 {
			letter := newLetter(1, run*5%12) // in any order
			record(t, db, letter)
			want = append(want, newLetter(1, run).FailureRecord)
		}
		record(t, db, newLetter(2, 0))
		require.Equal(t, want, read(t, db, 1).Failures)
	})
	t.Run("UpdatedAtOnlyRises", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 9))
		want := read(t, db, 1).UpdatedAt
		record(t, db, newLetter(1, 1))
		require.Equal(t, want, read(t, db, 1).UpdatedAt)
	})
	t.Run("UTC", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		letter := newLetter(1, 0)
		letter.LastFailure = letter.LastFailure.In(time.FixedZone("elsewhere", 3*3600)).Add(999 * time.Nanosecond)
		record(t, db, letter)
		got := read(t, db, 1)
		require.Equal(t, newLetter(1, 0).LastFailure, got.LastFailure)
		require.Equal(t, got.LastFailure, got.Failures[0].LastFailure)
	})
}
