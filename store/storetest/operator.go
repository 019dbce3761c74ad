package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

func newRequest(requestID string, kind job.RequestKind, state job.State) job.RequestRecord {
	return job.RequestRecord{
		DeadLetterID: id(1), RequestID: requestID, Kind: kind, Actor: "ada", Reason: "why", Text: "note", Accepted: true,
		Replay: 1, At: begin().Add(48 * time.Hour), State: state,
	}
}

func testRequests(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("RoundTripInOrderOfArrival", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		refused := newRequest("b", job.RequestReplay, "")
		refused.Accepted, refused.Refusal = false, &job.Refusal{Code: job.RefusedTooEarly, Detail: "not before noon"}
		happened, freed := newRequest("d", job.RequestReconcile, ""), newRequest("e", job.RequestReconcile, "")
		happened.Effect, happened.Happened = "charge", new(true)
		freed.Effect, freed.Happened = "mail.7", new(false)
		want := []job.RequestRecord{
			newRequest("c", job.RequestAnnotate, ""), refused, newRequest("a", job.RequestReplay, ""), happened, freed,
		}
		for _, r := range want {
			require.NoError(t, db.SaveRequest(t.Context(), r))
		}
		got := read(t, db, 1)
		require.Equal(t, want, got.Requests)
		require.Equal(t, job.StateDeadLettered, got.State)
		require.Equal(t, want[0].At, got.UpdatedAt)
		one, err := db.Request(t.Context(), id(1), job.RequestReplay, "b")
		require.NoError(t, err)
		require.Equal(t, refused, one)
	})
	t.Run("FirstWriteWins", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		first := newRequest("a", job.RequestDiscard, job.StateDiscarded)
		require.NoError(t, db.SaveRequest(t.Context(), first))
		record(t, db, newLetter(1, 1)) // opens it again
		late := first
		late.Actor = "eve"
		require.NoError(t, db.SaveRequest(t.Context(), late))
		got := read(t, db, 1)
		require.Equal(t, []job.RequestRecord{first}, got.Requests)
		require.Equal(t, job.StateDeadLettered, got.State)
	})
	t.Run("SameIDOfAnotherKindIsAnother", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		require.NoError(t, db.SaveRequest(t.Context(), newRequest("a", job.RequestAnnotate, "")))
		require.NoError(t, db.SaveRequest(t.Context(), newRequest("a", job.RequestDiscard, job.StateDiscarded)))
		got := read(t, db, 1)
		require.Len(t, got.Requests, 2)
		require.Equal(t, job.StateDiscarded, got.State)
	})
	t.Run("NotFound", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		require.ErrorIs(t, db.SaveRequest(t.Context(), newRequest("a", job.RequestReplay, "")), job.ErrNotFound)
		record(t, db, newLetter(1, 0))
		_, err := db.Request(t.Context(), id(1), job.RequestReplay, "a")
		require.ErrorIs(t, err, job.ErrNotFound)
		require.Empty(t, read(t, db, 1).Requests)
	})
}

func testReplays(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("BegunThenFinished", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		begun := newReplay(1, 1)
		require.NoError(t, db.SaveReplay(t.Context(), begun))
		got := read(t, db, 1)
		require.Equal(t, []job.ReplayRecord{begun}, got.History)
		require.Equal(t, job.StateReplaying, got.State)
		require.Equal(t, 1, got.Replays)
		require.Equal(t, begun.StartedAt, got.UpdatedAt)
		require.Nil(t, got.NotBefore)

		done := finished(begun, job.OutcomeFailedAgain, job.StateDeadLettered)
		require.NoError(t, db.SaveReplay(t.Context(), done))
		got = read(t, db, 1)
		require.Equal(t, []job.ReplayRecord{done}, got.History)
		require.Equal(t, job.StateDeadLettered, got.State)
		require.Equal(t, done.NotBefore, got.NotBefore)
		require.Equal(t, *done.FinishedAt, got.UpdatedAt)
	})
	t.Run("LateAndRepeatedChangeNothing", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		begun := newReplay(1, 1)
		done := finished(begun, job.OutcomeResolved, job.StateResolved)
		require.NoError(t, db.SaveReplay(t.Context(), done)) // the beginning got lost
		want := read(t, db, 1)
		require.Equal(t, []job.ReplayRecord{done}, want.History)
		for _, late := range []job.ReplayRecord{begun, done, finished(begun, job.OutcomeCanceled, job.StateDeadLettered)} {
			require.NoError(t, db.SaveReplay(t.Context(), late))
			require.Equal(t, want, read(t, db, 1))
		}
	})
	t.Run("RepeatedBeginningAfterAnotherFailure", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		require.NoError(t, db.SaveReplay(t.Context(), newReplay(1, 1)))
		record(t, db, newLetter(1, 1))
		require.NoError(t, db.SaveReplay(t.Context(), newReplay(1, 1)))
		require.Equal(t, job.StateDeadLettered, read(t, db, 1).State)
	})
	t.Run("LateOutcomeOfAnEarlierReplay", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		require.NoError(t, db.SaveReplay(t.Context(), newReplay(1, 2)))
		late := finished(newReplay(1, 1), job.OutcomeFailedAgain, job.StateDeadLettered)
		require.NoError(t, db.SaveReplay(t.Context(), late))
		got := read(t, db, 1)
		require.Equal(t, []job.ReplayRecord{late, newReplay(1, 2)}, got.History)
		require.Equal(t, job.StateReplaying, got.State)
		require.Equal(t, 2, got.Replays)
	})
	t.Run("NotFound", func(t *testing.T) {
		t.Parallel()
		require.ErrorIs(t, open(t).SaveReplay(t.Context(), newReplay(1, 1)), job.ErrNotFound)
	})
}

func testPayloads(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("FirstOfAReferenceStays", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		want := newPayload("pl_x")
		require.NoError(t, db.RecordFailure(t.Context(), newLetter(1, 0), want))
		other := newPayload("pl_x")
		other.Ciphertext, other.KeysetID = []byte("other"), "1"
		require.NoError(t, db.RecordFailure(t.Context(), newLetter(1, 1), other))
		got, err := db.SealedPayload(t.Context(), "pl_x")
		require.NoError(t, err)
		require.Equal(t, *want, got)
	})
	t.Run("Gone", func(t *testing.T) {
		t.Parallel()
		_, err := open(t).SealedPayload(t.Context(), "pl_nowhere")
		require.ErrorIs(t, err, job.ErrPayloadGone)
	})
}
