package storetest

import (
	"bytes"
	"encoding/json"
	"strings"
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

// testText stores what databases dislike in text.
func testText(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("NULAndInvalidUTF8", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		dirty, clean := "a\x00b\xffc'\"\\u0000", "a\uFFFDb\uFFFDc'\"\\u0000"
		letter := newLetter(1, 0)
		letter.Owner, letter.Message, letter.Tags = dirty, dirty, []string{dirty}
		letter.RunID, letter.Log.Versions, letter.Redaction.Reason = dirty, []string{dirty}, dirty
		record(t, db, letter)
		record(t, db, letter)
		got := read(t, db, 1)
		require.Equal(t, clean, got.Owner)
		require.Equal(t, clean, got.Message)
		require.Equal(t, []string{clean}, got.Tags)
		require.Equal(t, []string{clean}, got.Log.Versions)
		require.Equal(t, clean, got.Redaction.Reason)
		require.Len(t, got.Failures, 1)

		request := job.RequestRecord{
			DeadLetterID: id(1), RequestID: dirty, Kind: "no\x00kind", Reason: dirty, At: begin(),
			Refusal: &job.Refusal{Code: job.RefusedInvalidRequest, Detail: dirty},
		}
		require.NoError(t, db.SaveRequest(t.Context(), request))
		back, err := db.Request(t.Context(), id(1), request.Kind, dirty)
		require.NoError(t, err)
		require.Equal(t, clean, back.Refusal.Detail)
		replay := newReplay(1, 1)
		replay.Detail, replay.Actor = dirty, dirty
		require.NoError(t, db.SaveReplay(t.Context(), replay))
		require.Equal(t, clean, read(t, db, 1).History[0].Actor)
		_, err = db.DeadLetter(t.Context(), "\x00")
		require.ErrorIs(t, err, job.ErrNotFound)
		_, err = db.SealedPayload(t.Context(), "\xff")
		require.ErrorIs(t, err, job.ErrPayloadGone)
	})
	t.Run("HugePayload", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		letter := newLetter(1, 0)
		letter.RedactedPayload = json.RawMessage(`"` + strings.Repeat("é", 1<<20) + `"`)
		sealed := newPayload(letter.PayloadRef)
		sealed.Ciphertext = bytes.Repeat([]byte{0, 0xff}, 1<<20)
		require.NoError(t, db.RecordFailure(t.Context(), letter, sealed))
		require.True(t, bytes.Equal(letter.RedactedPayload, read(t, db, 1).RedactedPayload))
		got, err := db.SealedPayload(t.Context(), sealed.Ref)
		require.NoError(t, err)
		require.True(t, bytes.Equal(sealed.Ciphertext, got.Ciphertext))
	})
	t.Run("DeepPayload", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		letter := newLetter(1, 0)
		letter.RedactedPayload = json.RawMessage(strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000))
		record(t, db, letter)
		require.True(t, bytes.Equal(letter.RedactedPayload, read(t, db, 1).RedactedPayload))
	})
	t.Run("LongTexts", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		long := func() string { // not compressible, or an index would take it
			var b strings.Builder
			for i := range 3000 {
				b.WriteRune(rune(0x4e00 + i*7919%20000))
			}
			return b.String()
		}()
		letter := newLetter(1, 0)
		letter.Message, letter.Version, letter.Fingerprint, letter.Runbook, letter.Subject = long, long, long, long, long
		record(t, db, letter)
		require.Equal(t, long, read(t, db, 1).Version)
	})
}
