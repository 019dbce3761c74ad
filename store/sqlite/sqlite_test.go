package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/redrivehq/redrive/job"
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

func TestBeneath(t *testing.T) {
	t.Parallel()
	storetest.RunSQL(t, sqlite.Dialect(), open)
}

func TestDSN(t *testing.T) {
	t.Parallel()

	t.Run("Settings", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "busy_timeout": "10000",
		} {
			var got string
			require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
			require.Equal(t, want, got, pragma)
		}
	})
	t.Run("OddFileName", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "a b?c#d%20&é.db")
		require.NoError(t, sqlite.New(openFile(t, path)).Migrate(t.Context()))
		require.FileExists(t, path)
	})
	t.Run("RelativePath", func(t *testing.T) {
		t.Parallel()
		here, err := os.Getwd()
		require.NoError(t, err)
		path, err := filepath.Rel(here, filepath.Join(t.TempDir(), "redrive.db"))
		require.NoError(t, err)
		require.NoError(t, sqlite.New(openFile(t, path)).Migrate(t.Context()))
		require.FileExists(t, path)
	})
	t.Run("MissingDirectory", func(t *testing.T) {
		t.Parallel()
		err := sqlite.New(openFile(t, filepath.Join(t.TempDir(), "hunter2", "redrive.db"))).Ping(t.Context())
		require.ErrorContains(t, err, "ping sqlite: database file cannot be opened (SQLITE 14)")
		require.NotContains(t, err.Error(), "hunter2")
	})
}

// Two handles are what two processes are: neither knows of the other's writers.
func TestTwoHandlesOnOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "redrive.db")
	handles := []*store.DB{sqlite.New(openFile(t, path)), sqlite.New(openFile(t, path))}
	var wg sync.WaitGroup
	errs := make([]error, 40)
	for i := range errs {
		wg.Go(func() {
			db := handles[i%2]
			errs[i] = errors.Join(db.Migrate(t.Context()), db.RecordFailure(t.Context(), job.DeadLetter{
				ID: "dl_1", FailureRecord: job.FailureRecord{RunID: "run-" + strconv.Itoa(i), LastFailure: time.Unix(1, 0)},
			}, nil), db.SaveRequest(t.Context(), job.RequestRecord{ // reads before it writes
				DeadLetterID: "dl_1", RequestID: strconv.Itoa(i), Kind: job.RequestAnnotate, At: time.Unix(1, 0),
			}))
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	letter, err := handles[0].DeadLetter(t.Context(), "dl_1")
	require.NoError(t, err)
	require.Len(t, letter.Failures, len(errs))
	require.Len(t, letter.Requests, len(errs))
}
