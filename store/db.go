package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// Dialect is what differs between the databases.
type Dialect struct {
	Name       string // for people
	Goose      goose.Dialect
	Migrations fs.FS // *.sql
	// Numbered placeholders ($1) instead of question marks.
	Numbered bool
	// LockRow is appended to a SELECT that must keep others from changing the row until the transaction ends.
	LockRow string
	// Provider are goose options of the dialect, such as a lock against concurrent migrations.
	Provider []goose.ProviderOption
	// Code returns the driver's error code (an SQLSTATE), or "".
	Code func(error) string
}

// DB is a store over one database. It is safe for concurrent use; closing the *sql.DB is the caller's.
type DB struct {
	sql     *sql.DB
	dialect Dialect
}

// New returns a store; programs call store/sqlite.New or store/postgres.New.
func New(db *sql.DB, dialect Dialect) *DB { return &DB{sql: db, dialect: dialect} }

// Migrate brings the schema to this build's version. It may run anywhere, any number of times, also at once.
func (db *DB) Migrate(ctx context.Context) error {
	provider, err := db.provider()
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return db.wrap(err, "migrate %s", db.dialect.Name)
	}
	return nil
}

// SchemaVersion returns the schema's version and the one this build wants.
func (db *DB) SchemaVersion(ctx context.Context) (have, want int64, err error) {
	provider, err := db.provider()
	if err != nil {
		return 0, 0, err
	}
	have, want, err = provider.GetVersions(ctx)
	if err != nil {
		return 0, 0, db.wrap(err, "schema version of %s", db.dialect.Name)
	}
	return have, want, nil
}

func (db *DB) provider() (*goose.Provider, error) {
	provider, err := goose.NewProvider(db.dialect.Goose, db.sql, db.dialect.Migrations, db.dialect.Provider...)
	if err != nil {
		return nil, fmt.Errorf("migrations of %s: %w", db.dialect.Name, err)
	}
	return provider, nil
}

// Ping asks the database whether it answers.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.sql.PingContext(ctx); err != nil {
		return db.wrap(err, "ping %s", db.dialect.Name)
	}
	return nil
}

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// exec runs a statement written with question marks and tells how many rows it changed.
func (db *DB) exec(ctx context.Context, q queryer, statement string, args ...any) (int64, error) {
	result, err := q.ExecContext(ctx, db.rebind(statement), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// inTx commits what work did, or nothing.
func (db *DB) inTx(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// rebind numbers the question marks where the dialect wants that. No statement here holds one in a literal.
func (db *DB) rebind(statement string) string {
	if !db.dialect.Numbered {
		return statement
	}
	var b strings.Builder
	n := 0
	for _, c := range statement {
		if c != '?' {
			b.WriteRune(c)
			continue
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
	}
	return b.String()
}

// Times are stored as microseconds since 1970, UTC: both databases sort and compare them alike.

func micros(t time.Time) int64 { return t.UTC().UnixMicro() }

func microsOrNull(t *time.Time) sql.NullInt64 {
	if t == nil || t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: micros(*t), Valid: true}
}

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

func fromNull(n sql.NullInt64) *time.Time {
	if !n.Valid {
		return nil
	}
	t := fromMicros(n.Int64)
	return &t
}

// text makes a string from outside storable: Postgres refuses NUL and invalid UTF-8.
func text[S ~string](s S) string {
	return strings.ToValidUTF8(strings.ReplaceAll(string(s), "\x00", "\uFFFD"), "\uFFFD")
}
