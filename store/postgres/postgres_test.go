package postgres_test

import (
	"database/sql"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

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
