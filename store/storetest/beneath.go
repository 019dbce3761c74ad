package storetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// RunSQL tests what can only be seen or provoked beneath a store. open returns a new, empty database each time and
// cleans up after itself.
func RunSQL(t *testing.T, dialect store.Dialect, open func(t *testing.T) *sql.DB) {
	topics := map[string]func(*testing.T, *sql.DB, store.Dialect){
		"MigrateTwice":       testMigrateTwice,
		"MigrateAtOnce":      testMigrateAtOnce,
		"MigrateDownAndUp":   testMigrateDown,
		"MigrateNewerSchema": testMigrateNewer,
		"MigrateBesideOther": testMigrateBeside,
		"ErasedPayload":      testErased,
		"NoSecretInErrors":   testSecrets,
	}
	for name, topic := range topics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic(t, open(t), dialect)
		})
	}
}

func testMigrateTwice(t *testing.T, raw *sql.DB, dialect store.Dialect) {
	db := store.New(raw, dialect)
	require.NoError(t, db.Ping(t.Context()))
	have, want, err := db.SchemaVersion(t.Context())
	require.NoError(t, err)
	require.Zero(t, have)
	require.Positive(t, want)
	require.NoError(t, db.Migrate(t.Context()))
	record(t, db, newLetter(1, 0))
	require.NoError(t, db.Migrate(t.Context()))
	have, want, err = db.SchemaVersion(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, have)
	require.Len(t, read(t, db, 1).Failures, 1)
}

func testMigrateAtOnce(t *testing.T, raw *sql.DB, dialect store.Dialect) {
	require.NoError(t, together(6, func(int) error { return store.New(raw, dialect).Migrate(t.Context()) }))
	record(t, store.New(raw, dialect), newLetter(1, 0))
}

func testMigrateDown(t *testing.T, raw *sql.DB, dialect store.Dialect) {
	db := store.New(raw, dialect)
	provider, err := goose.NewProvider(dialect.Goose, raw, dialect.Migrations, goose.WithTableName(store.VersionTable))
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, db.Migrate(t.Context()))
		record(t, db, newLetter(1, 0))
		_, err = provider.DownTo(t.Context(), 0)
		require.NoError(t, err)
		require.Error(t, db.RecordFailure(t.Context(), newLetter(1, 0), nil))
	}
}

// testMigrateNewer starts an old build on the schema of a newer one, as a rollback does.
func testMigrateNewer(t *testing.T, raw *sql.DB, dialect store.Dialect) {
	db := store.New(raw, dialect)
	require.NoError(t, db.Migrate(t.Context()))
	_, err := raw.ExecContext(t.Context(), `INSERT INTO `+store.VersionTable+` (version_id, is_applied) VALUES (99999, true)`)
	require.NoError(t, err)
	require.NoError(t, db.Migrate(t.Context()))
	have, want, err := db.SchemaVersion(t.Context())
	require.NoError(t, err)
	require.Greater(t, have, want)
}

// testMigrateBeside shares the database with a program that uses goose for tables of its own.
func testMigrateBeside(t *testing.T, raw *sql.DB, dialect store.Dialect) {
	_, err := raw.ExecContext(t.Context(), `CREATE TABLE goose_db_version (id INTEGER, version_id BIGINT, is_applied BOOLEAN)`)
	require.NoError(t, err)
	for _, version := range []int{0, 1, 2} {
		_, err = raw.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO goose_db_version VALUES (%d, %d, true)`, version, version))
		require.NoError(t, err)
	}
	db := store.New(raw, dialect)
	require.NoError(t, db.Migrate(t.Context()))
	record(t, db, newLetter(1, 0))
	var versions int
	require.NoError(t, raw.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM goose_db_version`).Scan(&versions))
	require.Equal(t, 3, versions, "the other program's versions")
}

func testErased(t *testing.T, raw *sql.DB, dialect store.Dialect) {
	db := store.New(raw, dialect)
	require.NoError(t, db.Migrate(t.Context()))
	require.NoError(t, db.RecordFailure(t.Context(), newLetter(1, 0), newPayload("pl_x")))
	_, err := raw.ExecContext(t.Context(), `UPDATE payloads SET ciphertext = NULL, erased_at = 1`)
	require.NoError(t, err)
	_, err = db.SealedPayload(t.Context(), "pl_x")
	require.ErrorIs(t, err, job.ErrPayloadGone)
	require.NoError(t, db.RecordFailure(t.Context(), newLetter(1, 1), newPayload("pl_x")))
	_, err = db.SealedPayload(t.Context(), "pl_x")
	require.ErrorIs(t, err, job.ErrPayloadGone, "a late writer brought an erased payload back")
}

// Planted is a value that no error may show.
const Planted = "hunter2-canary"

func planted(n, run int) job.DeadLetter {
	letter := newLetter(n, run)
	letter.Owner, letter.Subject, letter.Message = Planted, Planted, Planted
	letter.RedactedPayload = json.RawMessage(`"` + Planted + `"`)
	return letter
}

func testSecrets(t *testing.T, raw *sql.DB, dialect store.Dialect) {
	db := store.New(raw, dialect)
	require.NoError(t, db.Migrate(t.Context()))
	record(t, db, planted(1, 0))
	_, err := raw.ExecContext(t.Context(), `CREATE UNIQUE INDEX one_owner ON dead_letters (owner)`)
	require.NoError(t, err)
	RequireSilent(t, db.RecordFailure(t.Context(), planted(2, 0), nil), "record dead letter "+string(id(2)), "constraint violated")
	require.NoError(t, db.RecordFailure(t.Context(), planted(1, 1), nil), "the connection is usable after an error")

	request := newRequest("a", job.RequestReplay, "")
	request.Actor, request.Reason = Planted, Planted
	replay := newReplay(1, 1)
	replay.Actor, replay.Detail = Planted, Planted
	for _, table := range []string{"requests", "replays", "failures", "payloads"} {
		_, err = raw.ExecContext(t.Context(), `DROP TABLE `+table)
		require.NoError(t, err)
	}
	RequireSilent(t, db.SaveRequest(t.Context(), request), "save replay request a of "+string(id(1)))
	RequireSilent(t, db.SaveReplay(t.Context(), replay), "save replay 1 of "+string(id(1)))
	_, err = db.DeadLetters(t.Context(), store.Query{Fingerprint: Planted})
	RequireSilent(t, err, "list dead letters")
	_, err = db.DeadLetter(t.Context(), id(1))
	RequireSilent(t, err, "read dead letter "+string(id(1)))
	_, err = db.SealedPayload(t.Context(), "pl_x")
	RequireSilent(t, err, "read sealed payload pl_x")
	require.NotErrorIs(t, err, job.ErrPayloadGone, "trouble that may pass")

	require.NoError(t, raw.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = db.Counts(ctx)
	require.ErrorIs(t, err, context.Canceled, "whatever else broke")
	RequireSilent(t, db.RecordFailure(t.Context(), planted(3, 0), nil), "record dead letter")
	_, err = db.Counts(t.Context())
	RequireSilent(t, err, "count dead letters")
	RequireSilent(t, db.Migrate(t.Context()), "migrate "+dialect.Name)
}

// RequireSilent requires an error that says what it must and shows Planted in none of the ways Go prints errors.
func RequireSilent(t *testing.T, err error, says ...string) {
	t.Helper()
	require.Error(t, err)
	for _, part := range says {
		require.Contains(t, err.Error(), part)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		encoded, _ := json.Marshal(e)
		for _, text := range []string{fmt.Sprintf("%v %+v %#v %q", e, e, e, e), string(encoded)} {
			require.NotContains(t, text, Planted)
			require.NotContains(t, text, "INSERT")
		}
	}
}
