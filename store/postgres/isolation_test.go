package postgres_test

import (
	"database/sql"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/store/postgres"
	"github.com/redrivehq/redrive/testsuite/pg"
)

// Some sites set a stricter default isolation for a database or a user. There, a writer that waited for another would be
// told to start over (40001).
func TestStricterDefaultIsolation(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			raw := openAt(t, level)
			db := postgres.New(raw)
			require.NoError(t, db.Migrate(t.Context()))
			var got string
			require.NoError(t, raw.QueryRowContext(t.Context(), "SHOW transaction_isolation").Scan(&got))
			require.Equal(t, level, got, "the default is not in force, so this test proves nothing")

			errs := make([]error, 20)
			var wg sync.WaitGroup
			for i := range errs {
				wg.Go(func() {
					l := letter("team")
					l.RunID = strconv.Itoa(i / 2) // each twice
					errs[i] = db.RecordFailure(t.Context(), l, nil)
				})
			}
			wg.Wait()
			require.NoError(t, errors.Join(errs...))
			read, err := db.DeadLetter(t.Context(), "dl_1")
			require.NoError(t, err)
			require.Len(t, read.Failures, len(errs)/2)
		})
	}
}

func openAt(t *testing.T, isolation string) *sql.DB {
	address, err := url.Parse(pg.ForTest(t))
	require.NoError(t, err)
	settings := address.Query()
	settings.Set("default_transaction_isolation", isolation)
	address.RawQuery = strings.ReplaceAll(settings.Encode(), "+", "%20")
	db, err := sql.Open("pgx", address.String())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}
