// Package sqlite makes a store over a SQLite file, for one machine: development, tests and small deployments.
//
// Programs import the driver (modernc.org/sqlite) and open the file with DSN. Any number of processes may use one file;
// they write one after the other.
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
var files embed.FS

// New returns a store over a file that was opened with DSN.
func New(db *sql.DB) *store.DB { return store.New(db, Dialect()) }

// Dialect is what New gives the store.
func Dialect() store.Dialect {
	migrations, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the path is constant and valid
	}
	return store.Dialect{
		Name: "sqlite", Goose: goose.DialectSQLite3, Migrations: migrations,
		// Writers begin with the write lock (DSN), so no row needs one, and a read-only transaction is a snapshot.
		Snapshot: sql.TxOptions{ReadOnly: true}, OneWriter: true, Code: code,
	}
}

// DSN returns the driver's address of a file. Its settings are part of what the store promises:
// a write-ahead log, so that readers do not block the writer; BEGIN IMMEDIATE, since a transaction that reads first and
// then writes would fail with SQLITE_BUSY instead of waiting; ten seconds of patience with other processes; foreign keys
// are checked; and fsync at checkpoints only, which survives a kill of the process, and not always a power cut.
func DSN(path string) string {
	settings := url.Values{
		"_busy_timeout": {"10000"}, "_journal_mode": {"WAL"}, "_synchronous": {"NORMAL"}, "_foreign_keys": {"on"},
		"_txlock": {"immediate"},
	}
	name := url.URL{Path: path}
	return "file:" + name.EscapedPath() + "?" + settings.Encode()
}

// code reads the driver's result code through its method, since the driver itself is not imported here.
func code(err error) (code, class string) {
	var own interface {
		error
		Code() int
	}
	if !errors.As(err, &own) {
		return "", ""
	}
	n := own.Code()
	return "SQLITE " + strconv.Itoa(n), classOf(n & 0xff)
}

// classOf names a primary result code (https://www.sqlite.org/rescode.html).
func classOf(primary int) string {
	switch primary {
	case 5, 6:
		return "database is locked"
	case 8:
		return "database is read-only"
	case 10:
		return "disk I/O error"
	case 11, 26:
		return "database file is damaged"
	case 13:
		return "disk is full"
	case 14:
		return "database file cannot be opened"
	case 18:
		return "value too large"
	case 19:
		return "constraint violated"
	default:
		return "database error"
	}
}
