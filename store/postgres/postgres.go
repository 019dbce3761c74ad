// Package postgres makes a store over PostgreSQL 13 or newer.
//
// Programs import the driver, pgx's stdlib package, and open the database with it. Writes run at read committed,
// also where the database's default is stricter: every write locks its dead letter's row first, so nothing it reads
// afterwards can be stale, and none fails with a serialization error.
package postgres

import (
	"database/sql"
	"embed"
	"errors"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/redrivehq/redrive/store"
)

//go:embed migrations/*.sql
var files embed.FS

// New returns a store over db.
func New(db *sql.DB) *store.DB { return store.New(db, Dialect()) }

// Dialect is what New gives the store.
func Dialect() store.Dialect {
	migrations, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the path is constant and valid
	}
	return store.Dialect{
		Name: "postgres", Goose: goose.DialectPostgres, Migrations: migrations, Numbered: true, LockRow: " FOR UPDATE",
		Write:       sql.TxOptions{Isolation: sql.LevelReadCommitted},
		Snapshot:    sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		MigrateLock: migrateLock, Code: code,
	}
}

// migrateLock is an advisory lock of the session, asked for every second for five minutes. It ends with the connection,
// so a migrator that is killed leaves none behind.
func migrateLock() (goose.ProviderOption, error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	return goose.WithSessionLocker(locker), nil
}

// code reads the SQLSTATE through pgx's method, since the driver itself is not imported here. Message, detail and hint
// are left behind: they quote values, as in "Key (job_key)=(…) already exists".
func code(err error) (code, class string) {
	var own interface {
		error
		SQLState() string
	}
	if !errors.As(err, &own) || len(own.SQLState()) != 5 {
		return "", ""
	}
	return "SQLSTATE " + own.SQLState(), classOf(own.SQLState()[:2])
}

// classOf names the classes of SQLSTATE that operators meet (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func classOf(class string) string {
	switch class {
	case "08":
		return "connection trouble"
	case "22":
		return "invalid data"
	case "23":
		return "constraint violated"
	case "25":
		return "invalid transaction state"
	case "28":
		return "not authorized"
	case "3D", "3F":
		return "no such database or schema"
	case "40":
		return "transaction rolled back"
	case "42":
		return "schema does not fit, or access denied"
	case "53":
		return "out of resources"
	case "54":
		return "limit exceeded"
	case "57":
		return "stopped by the server's operator"
	case "58":
		return "system error"
	default:
		return "database error"
	}
}
