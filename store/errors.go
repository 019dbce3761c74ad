package store

import (
	"context"
	"errors"
	"fmt"
)

// Error is a database error without the database's own text, which can quote the values of a statement.
type Error struct {
	Op   string // what was done, with the identity
	Code string // the driver's code, such as an SQLSTATE; empty when the database was not reached
	err  error
}

// Error returns the operation and the code.
func (e *Error) Error() string {
	switch {
	case errors.Is(e.err, context.Canceled):
		return e.Op + ": " + context.Canceled.Error()
	case errors.Is(e.err, context.DeadlineExceeded):
		return e.Op + ": " + context.DeadlineExceeded.Error()
	case e.Code != "":
		return e.Op + ": database error " + e.Code
	default:
		return e.Op + ": the database cannot be reached"
	}
}

// Is lets callers branch on a canceled context and on no other inner error, since those may quote values.
func (e *Error) Is(target error) bool {
	return (target == context.Canceled || target == context.DeadlineExceeded) && errors.Is(e.err, target)
}

func (db *DB) wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	return &Error{Op: fmt.Sprintf(format, args...), Code: db.dialect.Code(err), err: err}
}
