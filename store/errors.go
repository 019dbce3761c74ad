package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/redrivehq/redrive/job"
)

// Error is a database error without the database's own text, which can quote the values of a row, a statement or a
// connection's address. It keeps nothing of it: no way of printing it brings them back.
type Error struct {
	Op    string // what was done, with the identity
	Code  string // the database's code, such as an SQLSTATE; empty when the error was not the database's
	Class string // what kind of trouble it is, from a closed list
	ended error  // context.Canceled, context.DeadlineExceeded or nil
}

// Error returns the operation, the class and the code.
func (e *Error) Error() string {
	if e.Code == "" {
		return e.Op + ": " + e.Class
	}
	return fmt.Sprintf("%s: %s (%s)", e.Op, e.Class, e.Code)
}

// Unwrap returns the context's error when that is what ended the operation, and nothing else.
func (e *Error) Unwrap() error { return e.ended }

// wrap is the boundary of every exported method. The sentinels of package job pass; everything else is stripped.
func (db *DB) wrap(ctx context.Context, err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	op := fmt.Sprintf(format, args...)
	for _, sentinel := range []error{job.ErrNotFound, job.ErrPayloadGone} {
		if errors.Is(err, sentinel) {
			return fmt.Errorf("%s: %w", op, sentinel)
		}
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		// A driver may answer a context that ends with whatever broke first, such as its connection.
		if errors.Is(err, ended) || errors.Is(ctx.Err(), ended) {
			return &Error{Op: op, Class: ended.Error(), ended: ended}
		}
	}
	if code, class := db.dialect.Code(err); code != "" {
		return &Error{Op: op, Code: code, Class: class}
	}
	return &Error{Op: op, Class: classOf(err)}
}

// classOf describes an error that has no code of the database.
func classOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection lost"
	case errors.Is(err, sql.ErrTxDone):
		return "transaction already ended"
	default:
		return fmt.Sprintf("database trouble without a code (%T)", err)
	}
}
