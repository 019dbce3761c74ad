package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// testRepeat draws histories of a letter. Whatever was written once may be written again at any later moment, as by an
// activity whose answer was lost, and changes nothing.
func testRepeat(t *testing.T, open func(*testing.T) *store.DB) {
	db := open(t)
	var letters atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		n := int(letters.Add(1))
		written := []func() error{recordFailure(t, db, n, 0, 0)}
		require.NoError(rt, written[0]())
		for range rapid.IntRange(1, 8).Draw(rt, "writes") {
			write := drawWrite(rt, t, db, n)
			require.NoError(rt, write())
			written = append(written, write)
			want, err := db.DeadLetter(t.Context(), id(n))
			require.NoError(rt, err)
			require.Equal(rt, want.FailureRecord, want.Failures[len(want.Failures)-1], "the current failure is the newest")
			again := rapid.SampledFrom(written).Draw(rt, "again")
			require.NoError(rt, again())
			got, err := db.DeadLetter(t.Context(), id(n))
			require.NoError(rt, err)
			require.Equal(rt, want, got)
		}
	})
}

func drawWrite(rt *rapid.T, t *testing.T, db *store.DB, n int) func() error {
	number := rapid.IntRange(1, 3).Draw(rt, "number")
	switch rapid.SampledFrom([]string{"failure", "replay", "begun", "finished", "request"}).Draw(rt, "write") {
	case "failure":
		return recordFailure(t, db, n, rapid.IntRange(0, 5).Draw(rt, "run"), 0)
	case "replay":
		return recordFailure(t, db, n, 10+number, number)
	case "begun":
		return func() error { return db.SaveReplay(t.Context(), newReplay(n, number)) }
	case "finished":
		outcome := rapid.SampledFrom(job.AllOutcomes()).Draw(rt, "outcome")
		state := rapid.SampledFrom([]job.State{job.StateResolved, job.StateDeadLettered}).Draw(rt, "state")
		return func() error { return db.SaveReplay(t.Context(), finished(newReplay(n, number), outcome, state)) }
	default:
		request := newRequest(fmt.Sprint("r", number), rapid.SampledFrom(job.AllRequestKinds()).Draw(rt, "kind"), "")
		request.DeadLetterID = id(n)
		if request.Kind == job.RequestDiscard {
			request.State = job.StateDiscarded
		}
		return func() error { return db.SaveRequest(t.Context(), request) }
	}
}

func recordFailure(t *testing.T, db *store.DB, n, run, replay int) func() error {
	letter := newLetter(n, run)
	letter.Replay = replay
	return func() error { return db.RecordFailure(t.Context(), letter, newPayload(letter.PayloadRef)) }
}
