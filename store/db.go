package store

import (
	"context"
	"database/sql"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Dialect is what differs between the databases. It is a value: store/sqlite and store/postgres make theirs.
type Dialect struct {
	Name       string // for people
	Goose      goose.Dialect
	Migrations fs.FS // *.sql, in the root
	// Numbered placeholders ($1) instead of question marks.
	Numbered bool
	// LockRow is appended to a SELECT that must keep others from changing the row until the transaction ends.
	LockRow string
	// Write are the options of a transaction that writes: the isolation that LockRow suffices for, whatever the database's
	// default is.
	Write sql.TxOptions
	// Snapshot are the options of a transaction whose reads all see one moment.
	Snapshot sql.TxOptions
	// OneWriter says that the database takes one writer at a time: writers of this process then queue here, in order,
	// instead of polling the database's lock until its timeout.
	OneWriter bool
	// MigrateLock returns goose's lock against concurrent migrations; nil means that Migrate tries again instead.
	MigrateLock func() (goose.ProviderOption, error)
	// Code returns the database's code for an error and a word for its class, or "" for errors that are not its own.
	// It must not return anything that the error quotes.
	Code func(error) (code, class string)
}

// DB is a store over one database. It is safe for concurrent use, also with other processes.
type DB struct {
	sql     *sql.DB
	dialect Dialect
	writer  chan struct{} // holds one token when OneWriter
}

// New returns a store; programs call store/sqlite.New or store/postgres.New.
func New(db *sql.DB, dialect Dialect) *DB {
	return &DB{sql: db, dialect: dialect, writer: make(chan struct{}, 1)}
}

// Close closes the *sql.DB that New was given; whoever opened that and goes on using it closes it there instead.
func (db *DB) Close() error { return db.sql.Close() }

// Ping asks the database whether it answers. It says nothing about the schema: see SchemaVersion.
func (db *DB) Ping(ctx context.Context) error {
	return db.wrap(ctx, db.sql.PingContext(ctx), "ping %s", db.dialect.Name)
}
