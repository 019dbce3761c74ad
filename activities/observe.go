package activities

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
)

func (r *Runner) observeLease(event job.LeaseEvent, n int) {
	if n > 0 {
		r.options.Observer.Lease(r.entry.definition.Type, event, n)
	}
}

// begun reports the lease that was granted, and those that lapsed since the last verdict: only the next attempt can
// tell.
func (r *Runner) begun(left inheritance) {
	r.observeLease(job.LeaseGranted, 1)
	r.observeLease(job.LeaseExpired, left.expired)
	r.observeLease(job.LeaseUndelivered, left.undelivered)
	if left.log.Suspect() {
		r.observeLease(job.LeaseSuspect, 1)
	}
}

// ended reports the attempt's end, and adds to a failure what the next attempt takes over. A dead letter is reported
// when it is recorded. began is the attempt's start, by this process's clock.
func (r *Runner) ended(ctx context.Context, err error, held *lease, left inheritance, began time.Time) error {
	end := job.AttemptCompleted
	var failure *job.Failure
	switch {
	case err == nil:
		r.options.Observer.Finished(r.entry.definition.Type, job.StateCompleted, held.log.Counted+1)
	case errors.As(err, &failure):
		failure.Progress, failure.Report.Attempt = held.progress.report(), held.running.Attempt
		end = job.AttemptEnd(failure.Class)
		if failure.Report.HandedBack != "" {
			end = job.AttemptHandedBack
		}
		if obstructed(failure.Report.HandedBack) {
			failure.Report.HandBacks = left.handBacks + 1
			failure.Delay = max(failure.Delay, stayAway(failure.Report.HandBacks, rand.Float64()))
		}
		if !failure.Final {
			failure.Report.NotBefore = activity.GetInfo(ctx).StartedTime.Add(time.Since(began) + failure.Delay).UTC().Truncate(time.Millisecond)
		}
	case temporal.IsCanceledError(err):
		end = job.AttemptCanceled
	}
	r.options.Observer.Attempt(r.entry.definition.Type, end)
	return err
}
