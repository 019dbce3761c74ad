package storetest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

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
	t.Run("EveryStringField", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		letter, replay, request := newLetter(1, 0), newReplay(1, 1), newRequest("a", job.RequestReplay, "")
		request.Refusal = new(job.Refusal)
		sealed := newPayload("")
		for _, record := range []any{&letter, &replay, &request, sealed} {
			soil(reflect.ValueOf(record).Elem())
		}
		letter.State = job.StateDeadLettered // the store's, on a new letter
		for range 2 {
			require.NoError(t, db.RecordFailure(t.Context(), letter, sealed))
			require.NoError(t, db.SaveRequest(t.Context(), request))
			require.NoError(t, db.SaveReplay(t.Context(), replay))
		}
		got, err := db.DeadLetter(t.Context(), letter.ID)
		require.NoError(t, err)
		require.Len(t, got.Failures, 1)
		require.Len(t, got.History, 1)
		require.Len(t, got.Requests, 1)
		back, err := db.SealedPayload(t.Context(), sealed.Ref)
		require.NoError(t, err)
		require.Equal(t, sealed.Ciphertext, back.Ciphertext)
		page, err := db.DeadLetters(t.Context(), store.Query{
			State: got.State, Type: letter.Type, Class: letter.Class, Cause: letter.Cause, Fingerprint: letter.Fingerprint, Version: letter.Version,
		})
		require.NoError(t, err)
		require.Len(t, page.Letters, 1, "a filter is cleaned as the record was")
		for _, list := range []any{got.FailureRecord, got.History, got.Requests, got.Owner, got.Tags} {
			encoded, err := json.Marshal(list)
			require.NoError(t, err)
			require.NotContains(t, string(encoded), `"odd\u0000`)
		}
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

// soil gives every string in v, however deep, a NUL and a byte that is not UTF-8. Lists of records are the store's.
func soil(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("odd\x00\xff" + v.String())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				soil(v.Field(i))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			soil(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			soil(v.Index(i))
		}
	case reflect.Map:
		v.SetMapIndex(reflect.ValueOf("odd\x00\xff"), reflect.ValueOf(1))
	}
}
