package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// OnceOptions say what an effect may rely on. The zero value relies on nothing.
type OnceOptions struct {
	// Downstream declares that the system called deduplicates by the downstream key: the same key never acts twice there,
	// for at least the policy's key TTL. A call whose outcome nobody recorded is then made again instead of parked.
	Downstream bool
	// Wait is how long to wait for another holder of the effect before ErrEffectHeld. Default: not at all.
	Wait time.Duration
}

// Once applies an external effect of the running job once: over attempts, overlapping leases, replays, and starts of the
// same key. do gets a context that ends with the claim, and an idempotency key for the system it calls; what it returns is
// stored as JSON and returned to every later caller, and do is not called again.
//
// What an error of do means:
//
//   - unknown_outcome, and timeout: nobody knows whether it happened.
//   - A call that was cut off (a context's error or a timeout in the error's tree) may have arrived: the same.
//   - Any other error says that the effect surely did not happen: the next attempt makes the call again. Return
//     UnknownOutcome(err) where that is not so, such as for a connection that broke after the request was sent.
//
// A panic, or a death of the process between the call and its record, leaves the claim open, which is unknown once it
// lapses. Unknown effects return an error of class unknown_outcome, and park the job, until somebody settles them; with
// Downstream, none of these is unknown, and the next attempt makes the call again under the same key.
//
// Errors of Once itself: ErrEffectHeld (transient: come back later), ErrFenced (transient: a newer attempt has the effect,
// and what do did may stand twice unless Downstream), ErrLedgerUnavailable (dependency_down; do was not called, or may be
// called again), ErrEffectUnknown (unknown_outcome), ErrInvalidEffect and ErrEffectResult (handler_defect). After
// ErrEffectResult the effect stands and is not applied again, but it has no result to return: later callers get the same
// error until a Settlement brings one.
//
// Do not call Once inside a transaction on the ledger's own database: SQLite has one writer, and it would be waiting for
// itself. See store.InTx for effects that are rows there. options are at most one.
func Once[T any](
	ctx context.Context, name string, do func(ctx context.Context, downstreamKey string) (T, error), options ...OnceOptions,
) (result T, err error) {
	c, err := newEffectCall(ctx, name, options)
	if err != nil {
		return result, err
	}
	stored, done, err := c.claim(ctx)
	if err != nil {
		return result, err
	}
	if done {
		err = c.decode(stored, &result)
		return result, err
	}
	var applied T
	err = c.apply(ctx, func(ctx context.Context) (err error) {
		applied, err = do(ctx, c.request.Effect.DownstreamKey())
		return err
	}, func() (json.RawMessage, error) { return encodeEffect(applied) })
	if err != nil {
		return result, err
	}
	return applied, nil
}

// encodeEffect returns an error that wraps ErrEffectResult when result cannot be kept.
func encodeEffect(result any) (json.RawMessage, error) {
	encoded, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("%w: %T does not encode to JSON: %w", ErrEffectResult, result, err)
	}
	return encoded, CheckEffectResult(encoded)
}

// effectCall is one call of Once.
type effectCall struct {
	ledger  Ledger
	scope   EffectScope
	request ClaimRequest
	wait    time.Duration
	granted EffectClaim
	fresh   time.Time // the claim is live for a lease from here, by the local clock
}

func newEffectCall(ctx context.Context, name string, options []OnceOptions) (*effectCall, error) {
	effect, bound, err := effectFrom(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(options) > 1 {
		return nil, HandlerDefect(fmt.Errorf("effect %s: %w: %d options are given, at most one is allowed", effect, ErrInvalidEffect, len(options)))
	}
	var option OnceOptions
	if len(options) == 1 {
		option = options[0]
	}
	return &effectCall{
		ledger: bound.ledger, scope: bound.scope, wait: option.Wait,
		request: ClaimRequest{
			Effect: effect, Holder: bound.scope.claimHolder(), Lease: bound.scope.Lease, KeyTTL: bound.scope.KeyTTL,
			Downstream: option.Downstream,
		},
	}, nil
}

// How long to wait between two questions to the ledger.
const (
	minEffectPause = 20 * time.Millisecond
	maxEffectPause = time.Second
	// claimTries bounds the repetitions of a claim that the ledger did not answer; the attempt's retry does the rest.
	claimTries = 3
)

// claim asks until the effect is granted, done or unknown, or until the patience for its holder, or for the ledger, ends.
func (c *effectCall) claim(ctx context.Context) (stored json.RawMessage, done bool, err error) {
	until := time.Now().Add(c.wait)
	unanswered := 0
	for pause := minEffectPause; ; pause = min(2*pause, maxEffectPause) {
		asked := time.Now()
		claimed, err := c.ledger.Claim(ctx, c.request)
		switch held := (*EffectHeldError)(nil); {
		case err == nil && claimed.Done:
			c.observe(EffectWasDeduplicated)
			return claimed.Result, true, nil
		case err == nil:
			c.granted, c.fresh = claimed.Claim, asked
			return nil, false, nil
		case errors.As(err, &held):
			left := time.Until(until)
			if left <= 0 {
				c.observe(EffectWasHeld)
				return nil, false, &Error{Class: ClassTransient, RetryAfter: held.For, Err: err}
			}
			pause = min(pause, left)
		case errors.Is(err, ErrEffectUnknown):
			c.observe(EffectWasUnknown)
			return nil, false, UnknownOutcome(err)
		case errors.Is(err, ErrInvalidEffect):
			return nil, false, HandlerDefect(err)
		default:
			if unanswered++; unanswered >= claimTries || ctx.Err() != nil {
				return nil, false, c.unavailable("claim", err)
			}
		}
		if !sleep(ctx, pause) {
			return nil, false, c.unavailable("claim", context.Cause(ctx))
		}
	}
}

// apply calls do under the claim and records what became of it.
func (c *effectCall) apply(ctx context.Context, do func(context.Context) error, encode func() (json.RawMessage, error)) error {
	if time.Since(c.fresh) >= c.scope.Lease { // a process that was frozen since: others may have the effect by now
		if err := c.ledger.Renew(ctx, c.granted, c.scope.Lease); err != nil {
			return c.refused("renew", err, false)
		}
	}
	working, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := c.keep(ctx, end)
	defer stop() // a panic passes through here, and leaves the claim open
	if err := do(working); err != nil {
		return c.failed(ctx, err)
	}
	result, unstorable := encode()
	if unstorable != nil {
		result = nil // done, and never again, but with nothing to return
	}
	recorded := c.persist(ctx, func(ctx context.Context) error { return c.ledger.Complete(ctx, c.granted, result) })
	if recorded != nil {
		return c.refused("record", recorded, true)
	}
	c.observe(EffectWasApplied)
	if unstorable != nil {
		return HandlerDefect(fmt.Errorf("effect %s: %w", c.request.Effect, unstorable))
	}
	return nil
}

// failed gives the claim back, as what the error of do says about the effect.
func (c *effectCall) failed(ctx context.Context, err error) error {
	to := EffectFree
	if !c.request.Downstream && mayHaveHappened(err) {
		to = EffectUnknown
	}
	released := c.persist(ctx, func(ctx context.Context) error { return c.ledger.Release(ctx, c.granted, to) })
	if errors.Is(released, ErrFenced) {
		c.observe(EffectWasFenced)
	}
	if to == EffectUnknown {
		c.observe(EffectWasUnknown)
		return UnknownOutcome(fmt.Errorf("effect %s: %w", c.request.Effect, err))
	}
	if class, _ := Classify(err, nil); class == ClassUnknownOutcome { // the system called knows, under the same key
		return Transient(errors.New("effect " + c.request.Effect.String() + ": " + Text(err)))
	}
	return err
}

// mayHaveHappened tells whether an effect may stand although do returned err.
func mayHaveHappened(err error) bool {
	if class, _ := Classify(err, nil); class == ClassUnknownOutcome || class == ClassTimeout {
		return true
	}
	cut := false
	walkErrors(err, func(node error) {
		cut = cut || node == context.Canceled || node == context.DeadlineExceeded || timedOut(node) //nolint:errorlint // the walk is
	})
	return cut
}

func timedOut(err error) (yes bool) {
	defer func() { _ = recover() }()                 // the error is the user's
	timeout, ok := err.(interface{ Timeout() bool }) //nolint:errorlint // the walk looks at each node itself
	return ok && timeout.Timeout()
}

// refused says why the ledger did not do what was asked of it after the claim. called tells whether do had succeeded.
func (c *effectCall) refused(op string, err error, called bool) error {
	if errors.Is(err, ErrFenced) {
		c.observe(EffectWasFenced)
		if called && !c.request.Downstream {
			c.observe(EffectWasDuplicated)
		}
		return Transient(err)
	}
	if called && !c.request.Downstream {
		c.observe(EffectWasUnknown)
		return UnknownOutcome(fmt.Errorf("effect %s: it happened, and could not be recorded: %w: %w", c.request.Effect, ErrEffectUnknown, err))
	}
	return c.unavailable(op, err)
}

func (c *effectCall) unavailable(op string, err error) error {
	return DependencyDown(fmt.Errorf("%s effect %s: %w: %w", op, c.request.Effect, ErrLedgerUnavailable, err))
}

func (c *effectCall) observe(event EffectEvent) { c.scope.Observe(c.request.Effect, event) }

// keep renews the claim until stop is called. When ctx ends before, a call that does not heed it may still act: the claim
// is kept for as long as it runs, since a second call would act too. Where the system called deduplicates, the claim
// lapses instead, and the attempt that has the job now goes on. A claim that is somebody else's ends do's context.
func (c *effectCall) keep(ctx context.Context, end context.CancelCauseFunc) (stop func()) {
	held := ctx
	if !c.request.Downstream {
		held = context.WithoutCancel(ctx)
	}
	keeping, cancel := context.WithCancel(held)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sleep(keeping, c.scope.Lease/3) {
			asking, answered := context.WithTimeout(keeping, c.scope.Lease)
			err := c.ledger.Renew(asking, c.granted, c.scope.Lease)
			answered()
			if errors.Is(err, ErrFenced) {
				end(err)
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// recordGrace is how long the ledger is still asked to record an outcome after the attempt's context has ended.
const recordGrace = 5 * time.Second

// persist repeats a write until the ledger takes or refuses it, or ctx has ended and the grace is over. An outcome that
// is known and not recorded costs a person's time.
func (c *effectCall) persist(ctx context.Context, write func(context.Context) error) error {
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	forget := context.AfterFunc(ctx, func() {
		sleep(writing, recordGrace)
		cancel()
	})
	defer forget()
	for pause := minEffectPause; ; pause = min(2*pause, maxEffectPause) {
		err := write(writing)
		if err == nil || errors.Is(err, ErrFenced) || errors.Is(err, ErrEffectResult) || !sleep(writing, pause) {
			return err
		}
	}
}

// decode turns a stored result into the caller's type.
func (c *effectCall) decode(stored json.RawMessage, into any) error {
	if stored == nil {
		return HandlerDefect(fmt.Errorf("effect %s is done: %w: no result was kept", c.request.Effect, ErrEffectResult))
	}
	if err := json.Unmarshal(stored, into); err != nil {
		return HandlerDefect(fmt.Errorf("effect %s is done: %w: it does not decode into %T", c.request.Effect, ErrEffectResult, into))
	}
	return nil
}

// sleep returns false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
