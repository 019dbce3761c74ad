package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// Payloads opens the payload references of a job. It is safe for concurrent use. An error that wraps job.ErrPayloadGone will not
// heal; any other may.
type Payloads interface {
	Open(ctx context.Context, ref job.PayloadRef, id job.KeyID) ([]byte, error)
}

// RunnerOptions are what the attempts of a process have in common.
type RunnerOptions struct {
	Version  string   // the handler build
	Worker   string   // who this process is, for the attempt log
	Payloads Payloads // nil: this process cannot run replays
	// Heartbeats extends leases and knows which extension was acknowledged. Nil: the SDK's own, for tests of one
	// attempt; a lease that nobody acknowledges then ends nothing.
	Heartbeats Heartbeats
	// Ledger applies effects once. Nil: handlers that use job.Once are told that there is none.
	Ledger job.Ledger
	// Suspects is the turn that all runners of the process share. Nil: this runner's own.
	Suspects *Suspects
	// Redaction replaces the rules that the handler was registered with, when the worker holds the policy set.
	Redaction *redaction.Policy
	Logger    *zap.Logger      // nil: none
	Now       func() time.Time // nil: time.Now
}

// Runner executes the attempts of one job type.
type Runner struct {
	entry    *entry
	redactor *redaction.Redactor
	options  RunnerOptions
}

// Runner returns the runner of a registered type. The error wraps job.ErrNotFound, or names the redaction rule that
// does not compile.
func (r *Registry) Runner(t job.Type, options RunnerOptions) (*Runner, error) {
	e, ok := r.entries[t]
	if !ok {
		return nil, fmt.Errorf("handler of job type %s: %w", t, job.ErrNotFound)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Logger == nil {
		options.Logger = zap.NewNop()
	}
	if options.Suspects == nil {
		options.Suspects = NewSuspects()
	}
	rules := e.definition.Policy.Redaction
	if options.Redaction != nil {
		rules = *options.Redaction
	}
	redactor, err := redaction.Compile(rules)
	if err != nil {
		return nil, fmt.Errorf("job type %s: %w", t, err)
	}
	return &Runner{entry: e, redactor: redactor, options: options}, nil
}

// handBackDelay keeps an attempt that was handed back from returning to the same process at once.
const handBackDelay = 200 * time.Millisecond

// Run is one attempt: take the log over from the attempts before, check that this build may run the job, get the
// payload, hold the lease while the handler works, and turn what the handler did into a verdict. The error is a
// *job.Failure, or the context's when the job was canceled.
func (r *Runner) Run(ctx context.Context, raw converter.RawValue) (json.RawMessage, error) {
	info := activity.GetInfo(ctx)
	log := r.inherit(ctx)
	var assignment job.Assignment
	if err := json.Unmarshal(raw.Payload().GetData(), &assignment); err != nil {
		return nil, r.handBack(log, "assignment", "the assignment could not be read by this build")
	}
	envelope := assignment.Envelope
	if envelope.Replay != nil && !envelope.Replay.Rule.Allows(r.options.Version) {
		return nil, r.handBack(log, "version", "version "+r.options.Version+" may not run this replay")
	}
	if limit := assignment.Limits.MaxLeaseLosses; limit > 0 && log.LostSole >= limit {
		return nil, r.guilty(log)
	}
	payload, failure := r.payload(ctx, log, envelope)
	if failure != nil {
		return nil, failure
	}
	attempt := lease{
		log: log, length: info.HeartbeatTimeout, token: info.TaskToken, beats: r.options.Heartbeats,
		running: job.Running{
			Attempt: int(info.Attempt), Started: r.options.Now().UTC(), Worker: r.options.Worker, Version: r.options.Version,
			Waiting: log.Suspect(),
		},
	}
	leased, release := attempt.hold(ctx, info.Attempt > 1)
	defer release()
	if log.Suspect() {
		leave := attempt.alone(leased, ctx, r.options.Suspects)
		defer leave()
	}
	if leased.Err() != nil {
		return nil, r.interrupted(leased, log)
	}
	started := r.options.Now()
	result, err := r.invoke(leased, assignment, int(info.Attempt), payload)
	release()
	if err == nil {
		return result, nil
	}
	return nil, r.verdict(leased, err, log, assignment.Limits, started, r.redactor.Taint(payload))
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

// inherit reads the log of earlier attempts. A heartbeat of an attempt that left no verdict is a lost lease.
func (r *Runner) inherit(ctx context.Context) job.AttemptLog {
	if !activity.HasHeartbeatDetails(ctx) {
		return job.AttemptLog{}
	}
	var report job.Report
	if err := activity.GetHeartbeatDetails(ctx, &report); err != nil {
		r.options.Logger.Warn("attempt log unreadable", zap.String("job_type", string(r.entry.definition.Type)))
		return job.AttemptLog{}
	}
	if report.Running == nil || report.Running.Waiting {
		return report.Log
	}
	return report.Log.Add(job.Attempt{
		Class: job.ClassLeaseLost, Started: report.Running.Started, Ran: r.options.Now().Sub(report.Running.Started),
		Worker: report.Running.Worker, Version: report.Running.Version, Sole: report.Running.Sole,
	})
}

func (r *Runner) payload(ctx context.Context, log job.AttemptLog, e job.Envelope) ([]byte, error) {
	if e.PayloadRef == "" {
		return e.Payload, nil
	}
	if r.options.Payloads == nil {
		return nil, r.handBack(log, job.HandedBackNoVault, "this worker has no vault and cannot open a payload reference")
	}
	var payload []byte
	err := fenced(func() (err error) { // a vault that panics is trouble around the job
		payload, err = r.options.Payloads.Open(ctx, e.PayloadRef, e.ID())
		return err
	})
	if errors.Is(err, job.ErrPayloadGone) {
		return nil, &job.Failure{
			Class: job.ClassPayloadUnavailable, Message: "the payload is not in the vault, or cannot be opened", Final: true,
			Report: job.Report{Log: log, Version: r.options.Version, Cause: job.CausePayloadUnavailable},
		}
	}
	if err != nil {
		r.options.Logger.Warn("vault unavailable", zap.String("job_type", string(e.Type)), zap.String("job_key", string(e.Key)))
		return nil, r.handBack(log, "vault", "the vault could not be reached")
	}
	return payload, nil
}

// invoke runs the handler in a goroutine of its own, so that a runtime.Goexit in it ends as a verdict and not as an
// attempt whose heartbeats go on for ever.
func (r *Runner) invoke(ctx context.Context, a job.Assignment, number int, payload []byte) (json.RawMessage, error) {
	if !r.entry.definition.Supports(a.Envelope.SchemaVersion) {
		return nil, &job.Error{Class: job.ClassUnsupportedSchema, Err: fmt.Errorf(
			"schema version %d, the handler understands %v", a.Envelope.SchemaVersion, r.entry.definition.SchemaVersions)}
	}
	info := job.AttemptInfo{
		ID: a.Envelope.ID(), SchemaVersion: a.Envelope.SchemaVersion, Number: number,
		Version: r.options.Version, Tags: a.Envelope.Tags,
	}
	if a.Envelope.Replay != nil {
		info.Replay = a.Envelope.Replay.Number
	}
	ctx, cancel := context.WithTimeoutCause(r.withLedger(job.WithAttempt(ctx, info), number), a.Limits.Timeout, job.ErrAttemptTimeout)
	defer cancel()
	// The server's own timeout comes a lease later.
	grace := min(max(activity.GetInfo(ctx).HeartbeatTimeout/2, job.MinLease/2), maxGrace)
	result, err := fencedUntil(ctx, grace, func() (any, error) { return r.entry.invoke(ctx, payload) })
	if err != nil {
		if errors.Is(context.Cause(ctx), job.ErrAttemptTimeout) && undecided(err) {
			return nil, &job.Error{Class: job.ClassTimeout, Err: fmt.Errorf("the attempt ran longer than %s: %w", a.Limits.Timeout, err)}
		}
		return nil, err
	}
	return encodeResult(result)
}

// withLedger lets the handler claim effects in the name of this attempt.
func (r *Runner) withLedger(ctx context.Context, number int) context.Context {
	if r.options.Ledger == nil {
		return ctx
	}
	info := activity.GetInfo(ctx)
	return job.WithLedger(ctx, r.options.Ledger, job.EffectScope{
		Namespace: info.Namespace, Lease: info.HeartbeatTimeout,
		Holder: fmt.Sprintf("%s/%s/%d", r.options.Worker, info.WorkflowExecution.RunID, number),
	})
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

// maxGrace is the longest that an attempt waits for a handler whose context has ended.
const maxGrace = 5 * time.Second

// undecided tells whether an error may just be the echo of a canceled context.
func undecided(err error) bool {
	class, _ := job.Classify(err, nil)
	return class == job.ClassTransient || class == job.ClassDependencyDown
}

func encodeResult(result any) (encoded json.RawMessage, err error) {
	if result == nil {
		return nil, nil
	}
	err = fenced(func() error {
		encoded, err = json.Marshal(result)
		return err
	})
	if err != nil {
		return nil, job.HandlerDefect(fmt.Errorf("encode the result: %w", err))
	}
	if len(encoded) > job.MaxPayloadBytes {
		return nil, job.HandlerDefect(fmt.Errorf("the result is %d bytes, at most %d are allowed", len(encoded), job.MaxPayloadBytes))
	}
	return encoded, nil
}

// verdict turns an error into what Temporal is told. Trouble around the job comes first: a drain, a pause or a reset
// is not the handler's fault and uses up nothing.
func (r *Runner) verdict(
	ctx context.Context, err error, log job.AttemptLog, limits job.Limits, started time.Time, taint redaction.Taint,
) error {
	class, retryAfter := job.Classify(err, r.entry.definition.Classify)
	if ctx.Err() != nil && undecided(err) {
		return r.interrupted(ctx, log)
	}
	if delay, trouble := aroundEffects(err); trouble && undecided(err) {
		back := r.handBack(log, "effect", "an effect is held by another attempt, or the ledger could not be asked")
		back.Delay = max(delay, handBackDelay)
		return back
	}
	log = log.Add(job.Attempt{
		Class: class, Counted: class.Counted(), Started: started, Ran: r.options.Now().Sub(started),
		Worker: r.options.Worker, Version: r.options.Version,
	})
	message := redaction.Truncate(r.redactor.Text(job.Text(err), taint), job.MaxMessageBytes)
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
