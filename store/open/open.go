// Package open opens a store by its URL, as redrive.yaml, REDRIVE_STORE and the dev.env of `redrive dev` spell it:
// sqlite:PATH, or any URL of PostgreSQL.
//
// It imports no driver. The program does, and so decides which one it links: modernc.org/sqlite for sqlite:, pgx's stdlib
// package (github.com/jackc/pgx/v5/stdlib) for PostgreSQL.
package open

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/postgres"
	"github.com/redrivehq/redrive/store/sqlite"
)

// ErrNoDriver is wrapped when the program does not link the driver that a URL needs; the error says what to import.
var ErrNoDriver = errors.New("database driver is not linked")

// ErrNotReady is wrapped when there is no store at the URL, or its schema is older than this build's.
var ErrNotReady = errors.New("store is not ready")

// Store opens a store that is ready for use: a worker on an old schema would fail when the first job dies. Close it. Errors
// wrap ErrNoDriver or ErrNotReady, or are the database's; none quotes the URL of a PostgreSQL, which may hold a password.
func Store(ctx context.Context, url string) (*store.DB, error) {
	if path, isFile := strings.CutPrefix(url, "sqlite:"); isFile {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: there is no store at %s; make one with `redrive migrate`, or name another in REDRIVE_STORE", ErrNotReady, path)
		}
	}
	db, err := Unprepared(url)
	if err != nil {
		return nil, err
	}
	have, want, err := db.SchemaVersion(ctx)
	if err == nil && have < want {
		err = fmt.Errorf("%w: its schema is at version %d and this build needs %d; run `redrive migrate`", ErrNotReady, have, want)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Unprepared opens a store whose file or schema need not be there yet, for DB.Migrate. A missing directory is made.
func Unprepared(url string) (*store.DB, error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	if !isFile {
		db, err := connect("pgx", "github.com/jackc/pgx/v5/stdlib", url)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(16)
		db.SetConnMaxIdleTime(5 * time.Minute)
		return postgres.New(db), nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("directory of the store: %w", err)
	}
	db, err := connect("sqlite", "modernc.org/sqlite", sqlite.DSN(path))
	if err != nil {
		return nil, err
	}
	return sqlite.New(db), nil
}

func connect(driver, path, dsn string) (*sql.DB, error) {
	if !slices.Contains(sql.Drivers(), driver) {
		return nil, fmt.Errorf("%w: the store's URL needs %q; import _ %q", ErrNoDriver, driver, path)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil { // its own text quotes the URL
		return nil, fmt.Errorf("open the store: the URL is not one that the driver %q takes", driver)
	}
	return db, nil
}
