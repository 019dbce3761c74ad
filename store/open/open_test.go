package open_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver "sqlite", and on purpose no other

	"github.com/redrivehq/redrive/store/open"
)

func TestStore(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "new", "redrive.db")
	_, err := open.Store(t.Context(), url)
	require.ErrorIs(t, err, open.ErrNotReady)
	require.ErrorContains(t, err, "redrive migrate")

	db, err := open.Unprepared(url)
	require.NoError(t, err)
	require.NoError(t, db.Ping(t.Context()), "it makes the file")
	_, err = open.Store(t.Context(), url)
	require.ErrorIs(t, err, open.ErrNotReady, "there is no schema yet")
	require.NoError(t, db.Migrate(t.Context()))
	require.NoError(t, db.Close())

	db, err = open.Store(t.Context(), url)
	require.NoError(t, err)
	counts, err := db.Counts(t.Context())
	require.NoError(t, err)
	require.Empty(t, counts)
	require.NoError(t, db.Close())
	require.Error(t, db.Ping(t.Context()))
}

func TestDriverIsNamed(t *testing.T) {
	t.Parallel()
	_, err := open.Store(t.Context(), "postgres://redrive:hunter2@db.example/redrive")
	require.ErrorIs(t, err, open.ErrNoDriver)
	require.ErrorContains(t, err, `import _ "github.com/jackc/pgx/v5/stdlib"`)
	require.NotContains(t, err.Error(), "hunter2")
}
