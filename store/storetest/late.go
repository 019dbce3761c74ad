package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// testLate brings records in an order other than that in which things happened: an activity that is tried again may
// overtake, or be overtaken by, those of a later run.
func testLate(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("OlderFailureIsNotCurrentAndOpens", func(t *testing.T) {
		t.Parallel()
		for _, state := range []job.State{job.StateDeadLettered, job.StateResolved, job.StateDiscarded} {
			db := open(t)
			newer, older := newLetter(1, 5), newLetter(1, 0)
			older.Owner, older.Tags, older.Class, older.Version = "team-old", nil, job.ClassTimeout, "v0"
			record(t, db, newer)
			require.NoError(t, db.SaveRequest(t.Context(), newRequest("r", job.RequestDiscard, state)))
			want := read(t, db, 1)
			require.NoError(t, db.RecordFailure(t.Context(), older, newPayload(older.PayloadRef)))
			want.State = job.StateDeadLettered
			want.Failures = []job.FailureRecord{older.FailureRecord, newer.FailureRecord}
			require.Equal(t, want, read(t, db, 1))
			_, err := db.SealedPayload(t.Context(), older.PayloadRef)
			require.NoError(t, err, "its payload is kept")
		}
	})
	t.Run("AtTheSameMomentTheLaterArrivalIsCurrent", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for run := range 5 {
			letter := newLetter(1, run)
			letter.LastFailure = begin().Add(time.Duration(run)) // apart by less than is stored
			record(t, db, letter)
			got := read(t, db, 1)
			require.Equal(t, letter.RunID, got.RunID)
			require.Equal(t, letter.RunID, got.Failures[run].RunID)
		}
	})
	t.Run("OlderFailuresShowNoLetterTwice", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for n := range 6 {
			record(t, db, newLetter(n, 30))
		}
		seen := map[job.DeadLetterID]bool{}
		for q := (store.Query{Limit: 2}); ; {
			page, err := db.DeadLetters(t.Context(), q)
			require.NoError(t, err)
			for _, letter := range page.Letters {
				require.False(t, seen[letter.ID], "shown twice: %s", letter.ID)
				seen[letter.ID] = true
				late := letter
				late.RunID, late.LastFailure = fmt.Sprint("late-", len(seen)), begin().Add(-time.Hour)
				record(t, db, late)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		require.Len(t, seen, 6)
	})
	t.Run("OutcomeDoesNotCloseANewerFailure", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		begun := newReplay(1, 1)
		require.NoError(t, db.SaveReplay(t.Context(), begun))
		record(t, db, newLetter(1, 1)) // a producer's run, after the replay's own has completed
		done := finished(begun, job.OutcomeResolved, job.StateResolved)
		require.NoError(t, db.SaveReplay(t.Context(), done))
		got := read(t, db, 1)
		require.Equal(t, job.StateDeadLettered, got.State)
		require.Equal(t, []job.ReplayRecord{done}, got.History)
		next := finished(newReplay(1, 2), job.OutcomeResolved, job.StateResolved)
		require.NoError(t, db.SaveReplay(t.Context(), newReplay(1, 2)))
		require.NoError(t, db.SaveReplay(t.Context(), next))
		require.Equal(t, job.StateResolved, read(t, db, 1).State)
	})
	t.Run("OutcomeAndNewerFailureAtOnce", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for n := range 20 {
			record(t, db, newLetter(n, 0))
			begun := newReplay(n, 1)
			require.NoError(t, db.SaveReplay(t.Context(), begun))
			require.NoError(t, together(2, func(i int) error {
				if i == 0 {
					return db.RecordFailure(t.Context(), newLetter(n, 1), nil)
				}
				return db.SaveReplay(t.Context(), finished(begun, job.OutcomeResolved, job.StateResolved))
			}))
			require.Equal(t, job.StateDeadLettered, read(t, db, n).State, "whichever came first")
		}
	})
	t.Run("OutcomeCountsAfterTheReplaysOwnFailure", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 5))
		begun := newReplay(1, 1)
		require.NoError(t, db.SaveReplay(t.Context(), begun))
		own := newLetter(1, 6)
		own.Replay = 1
		record(t, db, own)
		require.NoError(t, db.SaveReplay(t.Context(), finished(begun, job.OutcomeCanceled, job.StateDeadLettered)))
		require.Equal(t, job.StateDeadLettered, read(t, db, 1).State)
		require.NoError(t, db.SaveReplay(t.Context(), finished(newReplay(1, 2), job.OutcomeResolved, job.StateResolved)))
		require.Equal(t, job.StateResolved, read(t, db, 1).State, "a beginning that got lost")
	})
}
