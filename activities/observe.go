package activities

import (
	"errors"

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
func (r *Runner) begun(log job.AttemptLog, lapsed lapses) {
	r.observeLease(job.LeaseGranted, 1)
	r.observeLease(job.LeaseExpired, lapsed.expired)
	r.observeLease(job.LeaseUndelivered, lapsed.undelivered)
	if log.Suspect() {
		r.observeLease(job.LeaseSuspect, 1)
	}
}

// ended reports the attempt's end, and adds to a failure what the next attempt takes over. A dead letter is reported
// when it is recorded.
func (r *Runner) ended(err error, held *lease) error {
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
	case temporal.IsCanceledError(err):
		end = job.AttemptCanceled
	}
	r.options.Observer.Attempt(r.entry.definition.Type, end)
	return err
}
