package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/vault"
)

// The exit codes, which scripts rely on.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3
)

// exit is an error with its exit code. Without an error in it everything has been said already.
type exit struct {
	code int
	err  error
}

// Error returns the error's text.
func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap returns the error.
func (e *exit) Unwrap() error { return e.err }

// usagef: what was given cannot be meant, and nothing was done.
func usagef(format string, args ...any) error { return &exit{exitUsage, fmt.Errorf(format, args...)} }

// refusedf: it was understood, and decided against.
func refusedf(format string, args ...any) error {
	return &exit{exitRefused, fmt.Errorf(format, args...)}
}

// exitCode sorts errors of the program and of its libraries.
func exitCode(err error) int {
	var known *exit
	var conflict *starter.ConflictError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &known):
		return known.code
	case errors.As(err, &conflict):
		return exitRefused
	}
	for _, usage := range []error{
		job.ErrInvalidKey, job.ErrInvalidEnvelope, starter.ErrInvalidOptions, replay.ErrInvalidRequest, vault.ErrInvalidErasure, store.ErrInvalidQuery,
	} {
		if errors.Is(err, usage) {
			return exitUsage
		}
	}
	return exitFailed
}

// complain says what went wrong, unless that was done already.
func complain(w io.Writer, err error) {
	if text := err.Error(); text != "" {
		fmt.Fprintf(w, "redrive: %s\n", printableLines(text))
	}
}
