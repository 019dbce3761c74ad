package integration_test

import (
	"fmt"
	"strings"
)

func errorsWrap(err error) error { return fmt.Errorf("charge: %w", err) }

// panickyError is an error whose text cannot be read.
type panickyError struct{}

func (panickyError) Error() string { panic("Error() panics") }

func longText() string { return strings.Repeat("a long story, ", 400_000) }
