package sqlite_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/sqlite"
	"github.com/redrivehq/redrive/store/storetest"
)

func TestTransactionalEffects(t *testing.T) {
	t.Parallel()
	storetest.RunTx(t, func(t *testing.T) (*sql.DB, *store.DB, storetest.Begin) {
		raw := open(t)
		db := sqlite.New(raw)
		require.NoError(t, db.Migrate(t.Context()))
		return raw, db, storetest.BeginSQL(raw)
	})
}
