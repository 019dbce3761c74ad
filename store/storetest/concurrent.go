package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// together runs work n times at once and returns the errors.
func together(n int, work func(i int) error) error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = work(i)
		})
	}
	close(start)
	wg.Wait()
	return errors.Join(errs...)
}

func testConcurrency(t *testing.T, open func(*testing.T) *store.DB) {
	const n = 20
	t.Run("SameFailureOnce", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		letter := newLetter(1, 0)
		require.NoError(t, together(n, func(int) error {
			return db.RecordFailure(t.Context(), letter, newPayload(letter.PayloadRef))
		}))
		letter.Failures = []job.FailureRecord{letter.FailureRecord}
		require.Equal(t, letter, read(t, db, 1))
	})
	t.Run("EveryRunInTheLineage", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		require.NoError(t, together(n, func(i int) error {
			return db.RecordFailure(t.Context(), newLetter(1, i), newPayload(newLetter(1, i).PayloadRef))
		}))
		got := read(t, db, 1)
		require.Len(t, got.Failures, n)
		runs := map[string]bool{}
		for _, f := range got.Failures {
			runs[f.RunID] = true
			_, err := db.SealedPayload(t.Context(), f.PayloadRef)
			require.NoError(t, err)
		}
		require.Len(t, runs, n)
		require.Equal(t, got.Failures[n-1], got.FailureRecord, "the newest is the current one")
		require.Equal(t, newLetter(1, n-1).RunID, got.RunID)
	})
	t.Run("RequestsReplaysAndFailures", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		record(t, db, newLetter(1, 0))
		require.NoError(t, together(3*n, func(i int) error {
			switch i % 3 {
			case 0:
				return db.RecordFailure(t.Context(), newLetter(1, 1+i), nil)
			case 1:
				return db.SaveRequest(t.Context(), newRequest(fmt.Sprint("r", i), job.RequestAnnotate, ""))
			default:
				return db.SaveReplay(t.Context(), newReplay(1, 1+i/3))
			}
		}))
		got := read(t, db, 1)
		require.Len(t, got.Failures, n+1)
		require.Len(t, got.Requests, n)
		require.Len(t, got.History, n)
		require.Equal(t, n, got.Replays)
	})
	t.Run("ReadersSeeOneMoment", func(t *testing.T) { testReaders(t, open(t)) })
}

// testReaders reads while failures arrive: the current failure is always the newest of the lineage that comes with it.
func testReaders(t *testing.T, db *store.DB) {
	record(t, db, newLetter(1, 0))
	done := make(chan error, 1)
	go func() {
		var err error
		for run := 1; run <= 50 && err == nil; run++ {
			err = db.RecordFailure(context.WithoutCancel(t.Context()), newLetter(1, run), nil)
		}
		done <- err
	}()
	for {
		got, err := db.DeadLetter(t.Context(), id(1))
		require.NoError(t, err)
		require.Equal(t, got.Failures[len(got.Failures)-1].RunID, got.RunID)
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
	}
}

func testCancel(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("BeforeTheCall", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, db.RecordFailure(ctx, newLetter(1, 0), nil), context.Canceled)
		_, err := db.DeadLetter(t.Context(), id(1))
		require.ErrorIs(t, err, job.ErrNotFound)
	})
	t.Run("AtAnyMoment", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		interrupted := 0
		for n := range 40 {
			letter := newLetter(n, 0)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n)*100*time.Microsecond)
			err := db.RecordFailure(ctx, letter, newPayload(letter.PayloadRef))
			cancel()
			got, readErr := db.DeadLetter(t.Context(), letter.ID)
			_, payloadErr := db.SealedPayload(t.Context(), letter.PayloadRef)
			if err == nil {
				require.NoError(t, readErr)
			} else {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				interrupted++
			}
			if readErr == nil { // all of it, also when the answer to COMMIT came too late
				require.Len(t, got.Failures, 1)
				require.NoError(t, payloadErr)
				continue
			}
			require.ErrorIs(t, readErr, job.ErrNotFound)
			require.ErrorIs(t, payloadErr, job.ErrPayloadGone)
		}
		require.Positive(t, interrupted)
	})
}
