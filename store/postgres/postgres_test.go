package postgres_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/postgres"
	"github.com/redrivehq/redrive/store/storetest"
	"github.com/redrivehq/redrive/testsuite/pg"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) *store.DB {
		db := postgres.New(open(t))
		require.NoError(t, db.Migrate(t.Context()))
		return db
	})
}

func open(t *testing.T) *sql.DB {
	db, err := sql.Open("pgx", pg.ForTest(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestBeneath(t *testing.T) {
	t.Parallel()
	storetest.RunSQL(t, postgres.Dialect(), open)
}

func letter(owner string) job.DeadLetter {
	return job.DeadLetter{ID: "dl_1", Owner: owner, FailureRecord: job.FailureRecord{RunID: "r", LastFailure: time.Unix(1, 0)}}
}

func TestNoSecretInErrors(t *testing.T) {
	t.Parallel()

	t.Run("Detail", func(t *testing.T) {
		t.Parallel()
		raw := open(t)
		db := postgres.New(raw)
		require.NoError(t, db.Migrate(t.Context()))
		_, err := raw.ExecContext(t.Context(), `CREATE UNIQUE INDEX ON payloads (keyset_id);
			INSERT INTO payloads VALUES ('x', 't', 'k', '`+storetest.Planted+`', '', 1)`)
		require.NoError(t, err)
		_, err = raw.ExecContext(t.Context(), `INSERT INTO payloads VALUES ('y', 't', 'k', '`+storetest.Planted+`', '', 1)`)
		var quoting *pgconn.PgError
		require.ErrorAs(t, err, &quoting)
		require.Contains(t, quoting.Detail, storetest.Planted, "the server no longer quotes values, so this test proves nothing")

		err = db.RecordFailure(t.Context(), letter(""), &job.SealedPayload{Ref: "z", KeysetID: storetest.Planted, Ciphertext: []byte{}})
		storetest.RequireSilent(t, err, "record dead letter dl_1: constraint violated (SQLSTATE 23505)")
	})
	t.Run("Argument", func(t *testing.T) {
		t.Parallel()
		raw := open(t)
		db := postgres.New(raw)
		require.NoError(t, db.Migrate(t.Context()))
		_, err := raw.ExecContext(t.Context(), `ALTER TABLE dead_letters ALTER COLUMN owner TYPE bigint USING 0`)
		require.NoError(t, err)
		_, err = raw.ExecContext(t.Context(), `UPDATE dead_letters SET owner = $1`, storetest.Planted)
		require.ErrorContains(t, err, storetest.Planted, "the driver no longer quotes values, so this test proves nothing")

		storetest.RequireSilent(t, db.RecordFailure(t.Context(), letter(storetest.Planted), nil), "record dead letter dl_1: ")
	})
	t.Run("Address", func(t *testing.T) {
		t.Parallel()
		raw, err := sql.Open("pgx", "postgres://"+storetest.Planted+":"+storetest.Planted+"@127.0.0.1:1/"+storetest.Planted)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, raw.Close()) })
		require.ErrorContains(t, raw.PingContext(t.Context()), storetest.Planted, "the driver no longer quotes the address")
		storetest.RequireSilent(t, postgres.New(raw).Ping(t.Context()), "ping postgres: connection refused")
	})
}
