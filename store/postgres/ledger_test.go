package postgres_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/postgres"
	"github.com/redrivehq/redrive/store/storetest"
)

func openLedger(t *testing.T) (*sql.DB, *store.DB) {
	raw := open(t)
	db := postgres.New(raw)
	require.NoError(t, db.Migrate(t.Context()))
	return raw, db
}

func TestTransactionalEffects(t *testing.T) {
	t.Parallel()

	t.Run("DatabaseSQL", func(t *testing.T) {
		t.Parallel()
		storetest.RunTx(t, func(t *testing.T) (*sql.DB, *store.DB, storetest.Begin) {
			raw, db := openLedger(t)
			return raw, db, storetest.BeginSQL(raw)
		})
	})
	t.Run("Pgx", func(t *testing.T) {
		t.Parallel()
		storetest.RunTx(t, func(t *testing.T) (*sql.DB, *store.DB, storetest.Begin) {
			raw, db := openLedger(t)
			return raw, db, func(t *testing.T) storetest.Transaction { return beginPgx(t, raw) }
		})
	})
	t.Run("FrozenTransactionIsEnded", func(t *testing.T) {
		t.Parallel()
		raw, db := openLedger(t)
		e := store.TxEffect{
			Effect: job.EffectID{Job: job.KeyID{Type: "t", Key: "k"}, Name: "n"}, KeyTTL: time.Hour, Idle: 200 * time.Millisecond,
		}
		apply := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`1`), nil }
		frozen := beginPgx(t, raw)
		_, _, err := db.InTx(t.Context(), frozen, e, apply)
		require.NoError(t, err)
		next := beginPgx(t, raw)
		_, already, err := db.InTx(t.Context(), next, e, apply) // waits for the bound, not for ever
		require.NoError(t, err)
		require.False(t, already)
		require.NoError(t, next.Commit())
		require.Error(t, frozen.Commit())
	})
	t.Run("ShorterIdleBoundStays", func(t *testing.T) {
		t.Parallel()
		raw, db := openLedger(t)
		for set, want := range map[string]string{"0": "1min", "10s": "10s", "1h": "1min"} {
			tx, err := raw.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(t.Context(), `SELECT set_config('idle_in_transaction_session_timeout', $1, true)`, set)
			require.NoError(t, err)
			e := store.TxEffect{
				Effect: job.EffectID{Job: job.KeyID{Type: "t", Key: job.Key(set)}, Name: "n"}, KeyTTL: time.Hour, Idle: time.Minute,
			}
			_, _, err = db.InTx(t.Context(), store.SQLTx(tx), e, func(ctx context.Context) (json.RawMessage, error) {
				var got string
				require.NoError(t, tx.QueryRowContext(ctx, `SHOW idle_in_transaction_session_timeout`).Scan(&got))
				require.Equal(t, want, got)
				return json.RawMessage(`1`), nil
			})
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
		}
	})
}

// beginPgx is a transaction of a user who works with pgx itself; the connection is one of the pool's.
func beginPgx(t *testing.T, raw *sql.DB) storetest.Transaction {
	conn, err := raw.Conn(t.Context())
	require.NoError(t, err)
	var tx pgx.Tx
	require.NoError(t, conn.Raw(func(driver any) error {
		tx, err = driver.(*stdlib.Conn).Conn().Begin(t.Context())
		return err
	}))
	ended := func(end func(context.Context) error) func() error {
		return func() error {
			err := end(context.WithoutCancel(t.Context()))
			_ = conn.Close() // also when the server has ended it
			return err
		}
	}
	return storetest.Transaction{Tx: store.PgxTx(tx), Commit: ended(tx.Commit), Rollback: ended(tx.Rollback)}
}
