package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/sqlite"
	"github.com/redrivehq/redrive/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) *store.DB {
		db := sqlite.New(open(t))
		require.NoError(t, db.Migrate(t.Context()))
		return db
	})
}

func open(t *testing.T) *sql.DB { return openFile(t, filepath.Join(t.TempDir(), "redrive.db")) }

func openFile(t *testing.T, path string) *sql.DB {
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}
