package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

func testDeadLetters(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("NewestFirstWithoutLineage", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		record(t, db, newLetter(2, 0))
		again := newLetter(1, 100) // now the newest
		record(t, db, again)
		page, err := db.DeadLetters(t.Context(), store.Query{})
		require.NoError(t, err)
		want := []job.DeadLetter{again, newLetter(2, 0)}
		for i := range want {
			want[i].RedactedPayload = nil
		}
		require.Equal(t, store.Page{Letters: want}, page)
	})
	t.Run("Empty", func(t *testing.T) {
		t.Parallel()
		page, err := open(t).DeadLetters(t.Context(), store.Query{})
		require.NoError(t, err)
		require.Empty(t, page)
	})
	t.Run("Filters", func(t *testing.T) { testFilters(t, open(t)) })
	t.Run("PagesWhileRowsAreAdded", func(t *testing.T) { testPages(t, open(t)) })
	t.Run("Limits", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for n := range store.DefaultPage + 2 {
			record(t, db, newLetter(n, 0))
		}
		page, err := db.DeadLetters(t.Context(), store.Query{})
		require.NoError(t, err)
		require.Len(t, page.Letters, store.DefaultPage)
		page, err = db.DeadLetters(t.Context(), store.Query{Limit: store.DefaultPage + 2})
		require.NoError(t, err)
		require.Len(t, page.Letters, store.DefaultPage+2)
		require.Empty(t, page.Next)
		for _, bad := range []store.Query{
			{Limit: -1},
			{Limit: store.MaxPage + 1},
			{Cursor: "!"},
			{Cursor: "eA"},
			{Cursor: page.Next + "MTIz"},
		} {
			_, err = db.DeadLetters(t.Context(), bad)
			require.ErrorIs(t, err, store.ErrInvalidQuery)
		}
	})
	t.Run("Counts", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		counts, err := db.Counts(t.Context())
		require.NoError(t, err)
		require.Empty(t, counts)
		for n := range 3 {
			record(t, db, newLetter(n, 0))
		}
		require.NoError(t, db.SaveReplay(t.Context(), newReplay(1, 1)))
		counts, err = db.Counts(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[job.State]int{job.StateDeadLettered: 2, job.StateReplaying: 1}, counts)
	})
}

func testFilters(t *testing.T, db *store.DB) {
	record(t, db, newLetter(1, 0))
	odd := newLetter(2, 0)
	odd.Type, odd.Class, odd.Cause = "webhook", job.ClassTimeout, job.CauseAttemptsSpent
	odd.Fingerprint, odd.Version = "fp-2", "v2"
	record(t, db, odd)
	require.NoError(t, db.SaveReplay(t.Context(), newReplay(2, 1)))

	for name, q := range map[string]store.Query{
		"State":       {State: job.StateReplaying},
		"Type":        {Type: "webhook"},
		"Class":       {Class: job.ClassTimeout},
		"Cause":       {Cause: job.CauseAttemptsSpent},
		"Fingerprint": {Fingerprint: "fp-2"},
		"Version":     {Version: "v2"},
		"Since":       {Since: odd.LastFailure},
		"All": {
			State: job.StateReplaying, Type: "webhook", Class: job.ClassTimeout, Cause: job.CauseAttemptsSpent,
			Fingerprint: "fp-2", Version: "v2", Since: odd.LastFailure, Until: odd.LastFailure.Add(time.Microsecond), Limit: 1,
		},
	} {
		page, err := db.DeadLetters(t.Context(), q)
		require.NoError(t, err, name)
		require.Len(t, page.Letters, 1, name)
		require.Equal(t, odd.ID, page.Letters[0].ID, name)
	}
	page, err := db.DeadLetters(t.Context(), store.Query{Until: odd.LastFailure})
	require.NoError(t, err)
	require.Len(t, page.Letters, 1, "Until is exclusive")
	require.Equal(t, id(1), page.Letters[0].ID)
	page, err = db.DeadLetters(t.Context(), store.Query{Type: "webhook", Class: job.ClassRejected})
	require.NoError(t, err)
	require.Empty(t, page.Letters)
}

func testPages(t *testing.T, db *store.DB) {
	const n = 23
	for i := range n {
		letter := newLetter(i, 0)
		letter.LastFailure = begin().Add(time.Duration(i*7%n/5) * time.Second) // five share each moment, ids in no order
		record(t, db, letter)
	}
	seen := map[job.DeadLetterID]bool{}
	var before job.DeadLetter
	q := store.Query{Limit: 4}
	for added := n; ; added++ {
		page, err := db.DeadLetters(t.Context(), q)
		require.NoError(t, err)
		for _, letter := range page.Letters {
			require.False(t, seen[letter.ID], "shown twice: %s", letter.ID)
			require.False(t, before.ID != "" && letter.LastFailure.After(before.LastFailure), "out of order: %s", letter.ID)
			seen[letter.ID], before = true, letter
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
		record(t, db, newLetter(added, 0))
		record(t, db, newLetter(n-1, added)) // one that was shown moves to the front
	}
	for i := range n {
		require.True(t, seen[id(i)], fmt.Sprintf("never shown: %s", id(i)))
	}
}
