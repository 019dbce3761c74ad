package storetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// A Begin starts a transaction of a user's on the database under test.
type Begin func(t *testing.T) Transaction

// Transaction is a user's, however it was begun.
type Transaction struct {
	store.Tx
	Commit, Rollback func() error
}

// BeginSQL begins with database/sql.
func BeginSQL(raw *sql.DB) Begin {
	return func(t *testing.T) Transaction {
		tx, err := raw.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		return Transaction{Tx: store.SQLTx(tx), Commit: tx.Commit, Rollback: tx.Rollback}
	}
}

// RunTx tests transactional effects. open returns a new, migrated database, its store, and how a user begins
// transactions on it.
func RunTx(t *testing.T, open func(t *testing.T) (*sql.DB, *store.DB, Begin)) {
	topics := map[string]func(*testing.T, *till){
		"WritesAndRowCommitTogether": testTxCommit, "RollbackUndoesBoth": testTxRollback, "ConcurrentAppliesOnce": testTxConcurrent,
		"SecondWaits": testTxWaits, "ResultsChecked": testTxResult, "BesideOnce": testTxBesideOnce, "FromAttempt": testTxAttempt,
	}
	for name, topic := range topics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, db, begin := open(t)
			_, err := raw.ExecContext(t.Context(), `CREATE TABLE till (paid INTEGER NOT NULL)`)
			require.NoError(t, err)
			topic(t, &till{raw: raw, db: db, begin: begin})
		})
	}
}

// till is a user's table.
type till struct {
	raw   *sql.DB
	db    *store.DB
	begin Begin
	calls atomic.Int64
}

func (l *till) effect(n int) store.TxEffect {
	return store.TxEffect{Effect: newEffect(n), Holder: "w1", KeyTTL: time.Hour, Idle: time.Minute}
}

// pay returns what writes through tx.
func (l *till) pay(tx store.Tx, receipt string) func(context.Context) (json.RawMessage, error) {
	return func(ctx context.Context) (json.RawMessage, error) {
		l.calls.Add(1)
		if _, err := tx.Exec(ctx, `INSERT INTO till (paid) VALUES (1)`); err != nil {
			return nil, err
		}
		return json.RawMessage(receipt), nil
	}
}

func (l *till) paid(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, l.raw.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM till`).Scan(&n))
	return n
}

func testTxCommit(t *testing.T, l *till) {
	for i := range 3 {
		tx := l.begin(t)
		result, already, err := l.db.InTx(t.Context(), tx, l.effect(1), l.pay(tx, `"first"`))
		require.NoError(t, err)
		require.Equal(t, i > 0, already)
		require.Equal(t, `"first"`, string(result))
		require.NoError(t, tx.Commit())
	}
	require.Equal(t, 1, l.paid(t))
	require.EqualValues(t, 1, l.calls.Load())
	got := effect(t, l.db, newEffect(1), t)
	require.Equal(t, job.EffectDone, got.State)
	require.WithinDuration(t, got.CreatedAt.Add(time.Hour), got.ExpiresAt, time.Second)
}

func testTxRollback(t *testing.T, l *till) {
	tx := l.begin(t)
	_, _, err := l.db.InTx(t.Context(), tx, l.effect(1), l.pay(tx, `1`))
	require.NoError(t, err)
	require.NoError(t, tx.Rollback()) // as a crash does
	_, err = l.db.Effect(t.Context(), newEffect(1))
	require.ErrorIs(t, err, job.ErrNotFound)

	tx = l.begin(t)
	own := errors.New("out of stock")
	_, already, err := l.db.InTx(t.Context(), tx, l.effect(1), func(context.Context) (json.RawMessage, error) { return nil, own })
	require.Equal(t, own, err, "the user's errors are the user's")
	require.False(t, already)
	require.NoError(t, tx.Rollback())

	tx = l.begin(t)
	_, already, err = l.db.InTx(t.Context(), tx, l.effect(1), l.pay(tx, `2`))
	require.NoError(t, err)
	require.False(t, already)
	require.NoError(t, tx.Commit())
	require.Equal(t, 1, l.paid(t))
}

func testTxConcurrent(t *testing.T, l *till) {
	const n = 12
	var applied atomic.Int64
	require.NoError(t, together(n, func(int) error {
		tx := l.begin(t)
		result, already, err := l.db.InTx(t.Context(), tx, l.effect(1), l.pay(tx, `"receipt"`))
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if !already {
			applied.Add(1)
		}
		if string(result) != `"receipt"` {
			return errors.New("another result: " + string(result))
		}
		return tx.Commit()
	}))
	require.EqualValues(t, 1, applied.Load())
	require.Equal(t, 1, l.paid(t))
}

// testTxWaits lets the first transaction end after the second has begun to wait for it.
func testTxWaits(t *testing.T, l *till) {
	for i, commit := range []bool{true, false} {
		first := l.begin(t)
		_, _, err := l.db.InTx(t.Context(), first, l.effect(i), l.pay(first, `1`))
		require.NoError(t, err)
		second := make(chan bool, 1)
		go func() {
			tx := l.begin(t)
			_, already, err := l.db.InTx(t.Context(), tx, l.effect(i), l.pay(tx, `2`))
			if err == nil {
				err = tx.Commit()
			}
			second <- already && err == nil
		}()
		select {
		case <-second:
			require.Fail(t, "the second did not wait")
		case <-time.After(50 * time.Millisecond):
		}
		if commit {
			require.NoError(t, first.Commit())
		} else {
			require.NoError(t, first.Rollback())
		}
		require.Equal(t, commit, <-second)
		require.Equal(t, i+1, l.paid(t))
	}
}

func testTxResult(t *testing.T, l *till) {
	for _, bad := range []string{`{`, `"` + strings.Repeat("x", job.MaxEffectResultBytes) + `"`} {
		tx := l.begin(t)
		_, _, err := l.db.InTx(t.Context(), tx, l.effect(1), l.pay(tx, bad))
		require.ErrorIs(t, err, job.ErrEffectResult)
		require.NoError(t, tx.Rollback())
	}
	tx := l.begin(t)
	nameless := l.effect(1)
	nameless.Effect.Name = ""
	_, _, err := l.db.InTx(t.Context(), tx, nameless, l.pay(tx, `1`))
	require.ErrorIs(t, err, job.ErrInvalidEffect)
	require.NoError(t, tx.Rollback())
	require.Zero(t, l.paid(t))
}

func testTxBesideOnce(t *testing.T, l *till) {
	held := claim(t, l.db, newClaim(1, "a"))
	inTx := func() error {
		tx := l.begin(t)
		_, _, err := l.db.InTx(t.Context(), tx, l.effect(1), l.pay(tx, `1`))
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
	require.ErrorIs(t, inTx(), job.ErrEffectHeld)
	require.NoError(t, l.db.Release(t.Context(), held, job.EffectUnknown))
	require.ErrorIs(t, inTx(), job.ErrEffectUnknown)
	require.NoError(t, l.db.Release(t.Context(), held, job.EffectFree))
	require.NoError(t, inTx())
	require.Greater(t, effect(t, l.db, newEffect(1), t).Fence, held.Fence)
	require.ErrorIs(t, l.db.Complete(t.Context(), held, nil), job.ErrFenced)
	require.Equal(t, 1, l.paid(t))
}

func testTxAttempt(t *testing.T, l *till) {
	var events []job.EffectEvent
	for number := range 2 {
		ctx := job.WithLedger(attempt(t, l.db, 1, number, 0), l.db, job.EffectScope{
			Namespace: "default", Observe: func(_ job.EffectID, e job.EffectEvent) { events = append(events, e) },
		})
		tx := l.begin(t)
		got, already, err := store.OnceInTx(ctx, l.db, tx, "charge", func(ctx context.Context) (receipt, error) {
			_, err := tx.Exec(ctx, `INSERT INTO till (paid) VALUES (1)`)
			return receipt{Key: "r", Count: number}, err
		})
		require.NoError(t, err)
		require.Equal(t, number > 0, already)
		require.Equal(t, receipt{Key: "r"}, got)
		require.NoError(t, tx.Commit())
	}
	require.Equal(t, []job.EffectEvent{job.EffectWasApplied, job.EffectWasDeduplicated}, events)
	require.Equal(t, 1, l.paid(t))
}
