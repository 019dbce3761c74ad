// Package postgres makes a store over PostgreSQL, for production.
//
// The default isolation, read committed, suffices: every transaction first locks the row of the dead letter it is
// about, or writes one row whose primary key decides who was first. The program imports the driver
// (github.com/jackc/pgx/v5/stdlib, named "pgx").
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
var migrations embed.FS

// New returns a store over db.
func New(db *sql.DB) *store.DB {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the directory is embedded above
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		panic(err) // it takes no options here
	}
	return store.New(db, store.Dialect{
		Name: "PostgreSQL", Goose: goose.DialectPostgres, Migrations: files, Numbered: true, LockRow: " FOR UPDATE",
		Provider: []goose.ProviderOption{goose.WithSessionLocker(locker)}, Code: code,
	})
}

// code reads the SQLSTATE. The driver's own type is not imported: drivers belong to programs.
func code(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return "SQLSTATE " + coded.SQLState()
	}
	return ""
}
