package config

import (
	"errors"
	"fmt"
)

// ErrInvalid is wrapped by every refusal of a setting.
var ErrInvalid = errors.New("invalid configuration")

// Error is one complaint: where, about what, and why. It never quotes the value of a text setting.
type Error struct {
	File     string // empty when the setting is in none
	Line     int    // 0 when unknown
	Variable string // the variable that set it, if one did
	Key      string // such as policies.types.email.send.lease
	Reason   string
}

// Error returns "file:line: key: reason", or the variable in place of the file.
func (e *Error) Error() string {
	place := ""
	switch {
	case e.Variable != "":
		place = e.Variable + ": "
	case e.File != "" && e.Line > 0:
		place = fmt.Sprintf("%s:%d: ", e.File, e.Line)
	case e.File != "":
		place = e.File + ": "
	}
	if e.Key == "" {
		return place + e.Reason
	}
	return place + e.Key + ": " + e.Reason
}

// Unwrap returns ErrInvalid.
func (e *Error) Unwrap() error { return ErrInvalid }
