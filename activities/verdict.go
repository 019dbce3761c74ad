package activities

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// verdict turns an error into what Temporal is told. Trouble around the job comes first: a drain, a pause or a reset
// is not the handler's fault and uses up nothing.
func (r *Runner) verdict(
	ctx context.Context, err error, log job.AttemptLog, limits job.Limits, started time.Time, taint redaction.Taint,
) error {
	class, retryAfter := job.Classify(err, r.entry.definition.Classify)
	if ctx.Err() != nil && r.undecided(err) {
		return r.interrupted(ctx, log)
	}
	if delay, trouble := aroundEffects(err); trouble && r.undecided(err) {
		back := r.handBack(log, backForEffect, "an effect is held by another attempt, or the ledger could not be asked")
		back.Delay = max(delay, handBackDelay)
		return back
	}
	log = log.Add(job.Attempt{
		Class: class, Counted: class.Counted(), Started: started, Ran: r.options.Now().Sub(started),
		Worker: r.options.Worker, Version: r.options.Version,
	})
	message := fitting(r.redactor.Text(job.Text(err), taint))
	failure := &job.Failure{
		Class: class, Message: message,
		Report: job.Report{
			Log: log, Version: r.options.Version,
			Fingerprint: job.Fingerprint(r.entry.definition.Type, class, message),
		},
	}
	settle(failure, limits, retryAfter, r.options.Now(), rand.Float64())
	return failure
}

// settle decides between a retry and the end.
func settle(f *job.Failure, limits job.Limits, retryAfter time.Duration, now time.Time, random float64) {
	log := f.Report.Log
	f.Delay = limits.Backoff.Delay(log.Counted, random)
	switch {
	case f.Class.Final():
		f.Report.Cause = f.Class.FinalCause()
	case f.Class == job.ClassThrottled:
		f.Delay = limits.Backoff.ThrottleDelay(retryAfter, random)
		if log.ThrottledSince != nil && now.Add(f.Delay).Sub(*log.ThrottledSince) > limits.ThrottleMaxAge {
			f.Report.Cause = job.CauseThrottledTooLong
		}
	case log.Counted >= limits.MaxAttempts:
		f.Report.Cause = job.CauseAttemptsSpent
	}
	if f.Report.Cause == "" && !now.Add(f.Delay).Before(limits.Deadline) {
		f.Report.Cause = job.CauseDeadlinePassed
	}
	f.Final = f.Report.Cause != ""
}

// handBack returns the attempt to the lane, uncounted, with the log as it was.
func (r *Runner) handBack(log job.AttemptLog, why, message string) *job.Failure {
	return &job.Failure{
		Class: job.ClassTransient, Message: message, Delay: handBackDelay, Benign: true,
		Report: job.Report{Log: log, Version: r.options.Version, HandedBack: why},
	}
}

// undecided tells whether an error may just be the echo of a canceled context. What the handler's own rules call an
// unknown outcome never is: a retry could do it twice.
func (r *Runner) undecided(err error) bool {
	if own, _ := job.Classify(err, r.entry.definition.Classify); own == job.ClassUnknownOutcome {
		return false
	}
	class, _ := job.Classify(err, nil)
	return class == job.ClassTransient || class == job.ClassDependencyDown
}

// aroundEffects tells trouble with the ledger, or with another holder of an effect, from a verdict, and how long to
// stay away. An error whose own methods panic is nobody's trouble but the handler's.
func aroundEffects(err error) (delay time.Duration, trouble bool) {
	defer func() {
		if recover() != nil {
			delay, trouble = 0, false
		}
	}()
	var held *job.EffectHeldError
	if errors.As(err, &held) {
		return held.For, true
	}
	return handBackDelay, errors.Is(err, job.ErrEffectHeld) || errors.Is(err, job.ErrFenced) || errors.Is(err, job.ErrLedgerUnavailable)
}

// interrupted answers for an attempt that trouble around the job ended before a verdict.
func (r *Runner) interrupted(ctx context.Context, log job.AttemptLog) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, job.ErrShutdown):
		return r.handBack(log, "shutdown", "the worker is shutting down")
	case errors.Is(cause, job.ErrPaused), errors.Is(cause, job.ErrReset):
		return r.handBack(log, "operator", "an operator paused or reset the attempt")
	case errors.Is(cause, job.ErrCanceled):
		return temporal.NewCanceledError()
	default:
		return r.handBack(log, "lease", "the lease ended before the handler")
	}
}

// guilty ends a job that lost its leases while it was the only suspect of its process: it kills its workers.
func (r *Runner) guilty(log job.AttemptLog) *job.Failure {
	const message = "the worker process died each time it ran this job alone among the suspects"
	return &job.Failure{
		Class: job.ClassLeaseLost, Message: message, Final: true,
		Report: job.Report{
			Log: log, Version: r.options.Version, Cause: job.CauseLeaseLosses,
			Fingerprint: job.Fingerprint(r.entry.definition.Type, job.ClassLeaseLost, message),
		},
	}
}

// plainStart ends a job whose payload stands in Temporal's history as it was sent, where whoever may read the namespace reads
// it. Running it would make that a way to start jobs.
func (r *Runner) plainStart(log job.AttemptLog) *job.Failure {
	const message = "the job was started with its payload in plain text (plain_start: refuse); start it through POST /v1/jobs, " +
		"with a payload_ref, or with redrive's payload codec"
	r.options.Observer.Privacy(r.entry.definition.Type, job.PrivacyPlainStartRefused)
	return &job.Failure{
		Class: job.ClassInvalidPayload, Message: message, Final: true,
		Report: job.Report{
			Log: log, Version: r.options.Version, Cause: job.CausePoison,
			Fingerprint: job.Fingerprint(r.entry.definition.Type, job.ClassInvalidPayload, message),
		},
	}
}

// How long an attempt stays away that was handed back: so long that it does not return to the same process at once, and
// longer each time when what is in the way is the vault, the ledger or the suspects' turn.
const (
	handBackDelay    = 200 * time.Millisecond
	maxHandBackDelay = 30 * time.Second
)

// Why an attempt is handed back, where more than one place needs to know.
const (
	backForVault  = "vault"
	backForEffect = "effect"
	backForTurn   = "turn"
)

// tolerance is how much earlier than asked an attempt may start: clocks are read twice.
const tolerance = 20 * time.Millisecond

// tooEarly hands an attempt back that the server started before its backoff was over; see job.Report.NotBefore.
func (r *Runner) tooEarly(left inheritance) *job.Failure {
	back := r.handBack(left.log, "early", "the server started this attempt before its time")
	back.Delay = left.early
	return back
}

// obstructed tells whether a hand-back will meet the same obstacle if it comes back at once.
func obstructed(why string) bool {
	return why == backForVault || why == backForEffect || why == backForTurn
}

// stayAway grows with the number of such hand-backs in a row.
func stayAway(inRow int, random float64) time.Duration {
	return job.Backoff{Base: handBackDelay, Cap: maxHandBackDelay}.Delay(inRow, random)
}
