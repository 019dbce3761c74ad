package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	_ "modernc.org/sqlite"             // driver "sqlite"

	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/postgres"
	"github.com/redrivehq/redrive/store/sqlite"
)

// database is an open store; the caller closes it.
type database struct {
	*store.DB
	sql *sql.DB
}

// Close gives the connections back.
func (d *database) Close() error { return d.sql.Close() }

// openDatabase opens a store whose file or schema need not be there yet.
func openDatabase(url string) (*database, error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	if !isFile {
		db, err := sql.Open("pgx", url)
		if err != nil {
			return nil, errors.New("store: the URL is not one that PostgreSQL's driver takes") // its own text quotes the URL
		}
		db.SetMaxOpenConns(16)
		db.SetConnMaxIdleTime(5 * time.Minute)
		return &database{postgres.New(db), db}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("directory of the store: %w", err)
	}
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	return &database{sqlite.New(db), db}, nil
}

// openStore opens a store that must be ready for use: a worker on an old schema would fail when the first job dies.
func openStore(ctx context.Context, url string) (*database, error) {
	if path, isFile := strings.CutPrefix(url, "sqlite:"); isFile {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no store at %s; make one with `redrive migrate`, or name another in REDRIVE_STORE", path)
		}
	}
	db, err := openDatabase(url)
	if err != nil {
		return nil, err
	}
	have, want, err := db.SchemaVersion(ctx)
	if err == nil && have < want {
		err = fmt.Errorf("the store's schema is at version %d and this build needs %d; run `redrive migrate`", have, want)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
