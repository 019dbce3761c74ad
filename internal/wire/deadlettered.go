package wire

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
)

// EncodeDeadLettered returns the error that a dead-lettered job fails with.
func EncodeDeadLettered(d job.DeadLettered) error {
	message := fmt.Sprintf("dead-lettered as %s: %s, %s after %d counted attempts",
		d.DeadLetterID, d.Cause, d.Class, d.Attempts)
	return temporal.NewApplicationErrorWithOptions(message, job.TypeDeadLettered, temporal.ApplicationErrorOptions{
		NonRetryable: true,
		Details:      []any{d},
	})
}

// DecodeDeadLettered finds a dead-lettered job's details in err, as a client or a parent workflow sees it.
func DecodeDeadLettered(err error) (job.DeadLettered, bool) {
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || app.Type() != job.TypeDeadLettered || !app.HasDetails() {
		return job.DeadLettered{}, false
	}
	var d job.DeadLettered
	if err := app.Details(&d); err != nil {
		return job.DeadLettered{}, false
	}
	return d, true
}
