// Package sqlite makes a store over SQLite: the default, one file, no server.
//
// It suits one machine. Writers take turns (BEGIN IMMEDIATE and a busy timeout, both in DSN), so open the database with
// the string that DSN returns. The program imports the driver (modernc.org/sqlite, named "sqlite").
package sqlite

import (
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"strconv"

	"github.com/pressly/goose/v3"

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
	return store.New(db, store.Dialect{
		Name: "SQLite", Goose: goose.DialectSQLite3, Migrations: files, Code: code,
	})
}

// DSN returns the data source name for a database file: write-ahead log, foreign keys, writers that wait for each
// other up to ten seconds, and transactions that take the write lock when they begin, so that two that read before
// they write cannot deadlock.
func DSN(path string) string {
	pragmas := url.Values{"_txlock": {"immediate"}}
	for _, p := range []string{"journal_mode(WAL)", "busy_timeout(10000)", "foreign_keys(1)", "synchronous(NORMAL)"} {
		pragmas.Add("_pragma", p)
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + pragmas.Encode()
}

// code reads SQLite's extended result code from the driver's error.
func code(err error) string {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return "SQLITE_" + strconv.Itoa(coded.Code())
	}
	return ""
}
