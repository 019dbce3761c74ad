package store

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// exec runs a statement written with question marks and tells how many rows it changed.
func (db *DB) exec(ctx context.Context, q queryer, statement string, args ...any) (int64, error) {
	result, err := q.ExecContext(ctx, db.rebind(statement), storable(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (db *DB) queryRow(ctx context.Context, q queryer, statement string, args ...any) *sql.Row {
	return q.QueryRowContext(ctx, db.rebind(statement), storable(args)...)
}

// scanner is a *sql.Row or a *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// query calls row for each row of the result.
func (db *DB) query(ctx context.Context, q queryer, row func(scanner) error, statement string, args ...any) error {
	rows, err := q.QueryContext(ctx, db.rebind(statement), storable(args)...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its error is that of rows.Err
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// write commits what work did, or nothing.
func (db *DB) write(ctx context.Context, work func(*sql.Tx) error) error {
	if db.dialect.OneWriter {
		select {
		case db.writer <- struct{}{}:
			defer func() { <-db.writer }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return db.inTx(ctx, &db.dialect.Write, work)
}

// snapshot runs reads that all see the same moment.
func (db *DB) snapshot(ctx context.Context, work func(*sql.Tx) error) error {
	return db.inTx(ctx, &db.dialect.Snapshot, work)
}

func (db *DB) inTx(ctx context.Context, options *sql.TxOptions, work func(*sql.Tx) error) error {
	tx, err := db.sql.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		if undo := tx.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			return errors.Join(err, undo)
		}
		return err
	}
	return tx.Commit()
}

// rebind numbers the question marks where the dialect wants that. No statement here holds one in a literal.
func (db *DB) rebind(statement string) string {
	if !db.dialect.Numbered {
		return statement
	}
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(statement, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		statement = after
	}
}

// storable is the one place where text from outside is made storable: Postgres refuses NUL and invalid UTF-8, and a
// record that is refused for such a byte would be retried for ever.
func storable(args []any) []any {
	clean := make([]any, len(args))
	for i, arg := range args {
		clean[i] = arg
		if v := reflect.ValueOf(arg); v.IsValid() && v.Kind() == reflect.String {
			clean[i] = strings.ToValidUTF8(strings.ReplaceAll(v.String(), "\x00", "\uFFFD"), "\uFFFD")
		}
	}
	return clean
}
