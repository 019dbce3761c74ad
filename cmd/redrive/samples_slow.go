package main

import (
	"context"
	"fmt"
	"time"
)

// maxSlowSeconds bounds demo.slow: a worker that nobody watches should not be busy for days.
const maxSlowSeconds = 3600

// slow is the payload of demo.slow.
type slow struct {
	Seconds float64 `json:"seconds"` // 0 to maxSlowSeconds, fractions allowed
}

// Validate refuses a number that is out of range.
func (s *slow) Validate() error {
	if s.Seconds < 0 || s.Seconds > maxSlowSeconds {
		return fmt.Errorf(`"seconds" is %g, allowed are 0 to %d`, s.Seconds, maxSlowSeconds)
	}
	return nil
}

// slowWorker keeps a worker busy, for showing what becomes of a job whose worker dies or drains.
type slowWorker struct{ outbox outbox }

// work is the handler. A run that is interrupted leaves a started line without a finished one.
func (w slowWorker) work(ctx context.Context, payload slow) (any, error) {
	if err := w.outbox.record(ctx, "started"); err != nil {
		return nil, err
	}
	timer := time.NewTimer(time.Duration(payload.Seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := w.outbox.record(ctx, "finished"); err != nil {
		return nil, err
	}
	return map[string]float64{"worked_seconds": payload.Seconds}, nil
}
