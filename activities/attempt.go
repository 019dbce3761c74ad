package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
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
	// Drain is how long a handler may go on when the worker stops. The worker then has to wait for HandBackTime longer.
	Drain time.Duration
	// Observer hears what happens. Nil: nobody.
	Observer job.Observer
	// DataConverter encodes the results that the ledger keeps for job.DedupeStore, as it encodes those in history. Nil: the
	// SDK's own.
	DataConverter converter.DataConverter
	// Suspects is the turn that all runners of the process share. Nil: this runner's own.
	Suspects *Suspects
	// Encrypted says that clients of this deployment encrypt payloads: one that came in the clear is refused, unless the
	// policy allows it.
	Encrypted bool
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
	if options.Observer == nil {
		options.Observer = job.Unobserved{}
	}
	if options.DataConverter == nil {
		options.DataConverter = converter.GetDefaultDataConverter()
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

// Run is one attempt: take the log over from the attempts before, hold the lease, check that this build may run the job,
// get the payload, let the handler work, and turn what it did into a verdict. The error is a *job.Failure, or the
// context's when the job was canceled.
func (r *Runner) Run(ctx context.Context, raw converter.RawValue) (json.RawMessage, error) {
	info, began := activity.GetInfo(ctx), time.Now()
	left, err := r.inherit(ctx)
	if err != nil {
		return nil, err
	}
	held := &lease{
		log: left.log, length: info.HeartbeatTimeout, patience: r.options.Drain, activity: info, beats: r.options.Heartbeats,
		progress: resume(ctx), granted: began, observe: r.observeLease,
		running: job.Running{
			Attempt: int(info.Attempt), Started: r.options.Now().UTC(), Worker: r.options.Worker, Version: r.options.Version,
			Waiting: left.log.Suspect(),
		},
	}
	r.begun(left)
	if left.early > tolerance {
		return nil, r.ended(ctx, r.tooEarly(left), held, left, began)
	}
	leased, release := held.hold(ctx)
	defer release()
	result, err := r.attempt(leased, ctx, raw, held)
	return result, r.ended(ctx, err, held, left, began)
}

// attempt is what happens under the lease.
func (r *Runner) attempt(leased, root context.Context, raw converter.RawValue, held *lease) (json.RawMessage, error) {
	log := held.log
	assignment, failure := r.admit(raw, log)
	if failure != nil {
		return nil, failure
	}
	payload, err := r.payload(leased, log, assignment.Envelope)
	if err != nil {
		return nil, err
	}
	info := activity.GetInfo(root)
	number := int(info.Attempt)
	if log.Suspect() {
		leave, entered := held.alone(leased, root, r.options.Suspects)
		if !entered && leased.Err() == nil {
			return nil, r.handBack(log, backForTurn, "another suspect runs in this process")
		}
		defer leave()
	} else if number > 1 || r.options.Now().Sub(info.StartedTime) > info.HeartbeatTimeout/4 {
		// The attempts before it were not that lucky, or this one came late (or the clocks differ): is it still ours?
		held.announce(leased, root)
	}
	if leased.Err() != nil {
		return nil, r.interrupted(leased, log)
	}
	started := r.options.Now()
	if stall := assignment.Limits.Stall; stall > 0 && stall < assignment.Limits.Timeout { // 0: of a build that knew no limit
		watching, stop := context.WithCancel(leased)
		defer stop()
		go held.progress.watch(watching, stall, held.end)
	}
	result, err := r.invoke(leased, assignment, number, payload)
	if err == nil {
		return result, nil
	}
	return nil, r.verdict(leased, err, log, assignment.Limits, started, r.redactor.Taint(payload))
}

// admit reads the assignment and refuses what this build, or any, must not run.
func (r *Runner) admit(raw converter.RawValue, log job.AttemptLog) (a job.Assignment, refused error) {
	if err := json.Unmarshal(raw.Payload().GetData(), &a); err != nil {
		return a, r.handBack(log, "assignment", "the assignment could not be read by this build")
	}
	if a.Envelope.Replay != nil && !a.Envelope.Replay.Rule.Allows(r.options.Version) {
		return a, r.handBack(log, "version", "version "+r.options.Version+" may not run this replay")
	}
	if a.Plain && r.options.Encrypted {
		if a.Limits.PlainStart != job.PlainStartAllow {
			return a, r.plainStart(log)
		}
		if log.Leases == 0 {
			r.options.Observer.Privacy(r.entry.definition.Type, job.PrivacyPlainStartAllowed)
		}
	}
	if limit := a.Limits.MaxLeaseLosses; limit > 0 && log.LostSole >= limit {
		return a, r.guilty(log)
	}
	return a, nil
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
	ctx, cancel := context.WithTimeoutCause(r.withLedger(job.WithAttempt(ctx, info), number, a.Limits), a.Limits.Timeout, job.ErrAttemptTimeout)
	defer cancel()
	// The server's own timeout comes a lease later.
	grace := min(max(activity.GetInfo(ctx).HeartbeatTimeout/2, job.MinLease/2), maxGrace)
	return r.dedupe(ctx, a, func() (json.RawMessage, error) {
		result, err := fencedUntil(ctx, grace, func() (any, error) { return r.entry.invoke(ctx, payload) })
		if err != nil {
			return nil, r.outOfTime(ctx, a.Limits, err)
		}
		return encodeResult(result)
	})
}

// outOfTime gives the echo of a context that the attempt's own limits ended its class.
func (r *Runner) outOfTime(ctx context.Context, limits job.Limits, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, job.ErrAttemptTimeout) && r.undecided(err):
		return &job.Error{Class: job.ClassTimeout, Err: fmt.Errorf("the attempt ran longer than %s: %w", limits.Timeout, err)}
	case errors.Is(cause, job.ErrStalled) && r.undecided(err):
		return &job.Error{Class: job.ClassTimeout, Err: fmt.Errorf("no progress was reported for %s: %w", limits.Stall, err)}
	}
	return err
}

// withLedger lets the handler claim effects in the name of this attempt.
func (r *Runner) withLedger(ctx context.Context, number int, limits job.Limits) context.Context {
	if r.options.Ledger == nil {
		return ctx
	}
	info := activity.GetInfo(ctx)
	return job.WithLedger(ctx, r.options.Ledger, job.EffectScope{
		Namespace: info.Namespace, Lease: info.HeartbeatTimeout, KeyTTL: limits.KeyTTL,
		Holder:  fmt.Sprintf("%s/%s/%d", r.options.Worker, info.WorkflowExecution.RunID, number),
		Observe: func(id job.EffectID, event job.EffectEvent) { r.options.Observer.Effect(id.Job.Type, event) },
	})
}

// HandBackTime is how long an attempt may take from the end of its handler's context until Temporal has heard of it: the
// grace for a handler that does not stop at once, and the call.
const HandBackTime = maxGrace + 5*time.Second

// maxGrace is the longest that an attempt waits for a handler whose context has ended.
const maxGrace = 5 * time.Second

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
