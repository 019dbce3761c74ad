package integration_test

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/redrivehq/redrive/job"
)

func errorsWrap(err error) error { return fmt.Errorf("charge: %w", err) }

// panickyError is an error whose text cannot be read.
type panickyError struct{}

func (panickyError) Error() string { panic("Error() panics") }

func longText() string { return strings.Repeat("a long story, ", 400_000) }

// secretive is a payload whose password its handler leaks in every way it can.
type secretive struct {
	Text     string `json:"text"`
	Password string `json:"password"`
}

func echoing(ctx context.Context, p secretive) (any, error) {
	switch p.Text {
	case "panic":
		panic("cannot log in with " + p.Password)
	case "heartbeat":
		activity.RecordHeartbeat(ctx, "working on it")
	}
	return nil, job.Rejected(fmt.Errorf("cannot log in with %q", p.Password))
}
