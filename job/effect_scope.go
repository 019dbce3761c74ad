package job

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"
)

// Ledger applies each effect once; *store.DB is one. Every method is safe for concurrent use, also by other processes, and
// may be repeated after an error. Errors other than those of this package are trouble that may pass.
type Ledger interface {
	// Claim grants the effect or says that it is done. The error wraps ErrEffectHeld (an *EffectHeldError),
	// ErrEffectUnknown or ErrInvalidEffect. The same holder gets its live claim again.
	Claim(ctx context.Context, r ClaimRequest) (Claimed, error)
	// Renew keeps a claim live for another lease; also one that lapsed while nobody asked for the effect. The error wraps
	// ErrFenced when the claim is not the effect's any more.
	Renew(ctx context.Context, c EffectClaim, lease time.Duration) error
	// Complete records the effect as done, with its result or nil when that cannot be kept. The error wraps ErrFenced or
	// ErrEffectResult. A claim that lapsed, also one that was found and called unknown since, may still be completed: its
	// holder is who knows.
	Complete(ctx context.Context, c EffectClaim, result json.RawMessage) error
	// Release gives a claim back as EffectFree, when the effect surely did not happen, or as EffectUnknown. The error
	// wraps ErrFenced. An effect that is done stays done.
	Release(ctx context.Context, c EffectClaim, to EffectState) error
}

// EffectScope says for whom and for how long effects are claimed.
type EffectScope struct {
	Namespace string        // Temporal's
	Holder    string        // who asks, for people: a worker and its attempt
	Lease     time.Duration // of a claim; it is renewed while the effect is applied. Default 30s
	KeyTTL    time.Duration // of the ledger's memory; see CheckKeyTTL. Default 2400h (100 days)
	// Observe is told what became of each call. It must not block. Nil: nobody.
	Observe func(effect EffectID, event EffectEvent)
}

func (s EffectScope) withDefaults() EffectScope {
	orDuration(&s.Lease, 30*time.Second)
	orDuration(&s.KeyTTL, defaultKeyTTL)
	if s.Observe == nil {
		s.Observe = func(EffectID, EffectEvent) {}
	}
	return s
}

type ledgerKey struct{}

type boundLedger struct {
	ledger Ledger
	scope  EffectScope
}

// WithLedger returns ctx carrying the ledger that Once uses; the attempt runner calls it, and tests of handlers may.
// The job's identity is that of WithAttempt.
func WithLedger(ctx context.Context, ledger Ledger, scope EffectScope) context.Context {
	return context.WithValue(ctx, ledgerKey{}, boundLedger{ledger: ledger, scope: scope.withDefaults()})
}

// EffectFrom returns the identity of an effect of the running attempt, and the scope it is claimed in. A transactional
// effect needs both. The error wraps ErrInvalidEffect, or ErrLedgerUnavailable when ctx carries no ledger or no attempt.
func EffectFrom(ctx context.Context, name string) (EffectID, EffectScope, error) {
	effect, bound, err := effectFrom(ctx, name)
	return effect, bound.scope, err
}

func effectFrom(ctx context.Context, name string) (EffectID, boundLedger, error) {
	if err := checkHandlersEffect(name); err != nil {
		return EffectID{}, boundLedger{}, HandlerDefect(err)
	}
	return anyEffectFrom(ctx, name)
}

func anyEffectFrom(ctx context.Context, name string) (EffectID, boundLedger, error) {
	bound, ok := ctx.Value(ledgerKey{}).(boundLedger)
	if !ok || bound.ledger == nil {
		return EffectID{}, boundLedger{}, DependencyDown(fmt.Errorf("effect %q: %w: this worker runs without one", name, ErrLedgerUnavailable))
	}
	attempt, ok := AttemptFrom(ctx)
	if !ok {
		return EffectID{}, boundLedger{}, DependencyDown(fmt.Errorf("effect %q: %w: not within an attempt", name, ErrLedgerUnavailable))
	}
	effect := EffectID{Namespace: bound.scope.Namespace, Job: attempt.ID, Name: name}
	if err := effect.Validate(); err != nil {
		return EffectID{}, boundLedger{}, HandlerDefect(err)
	}
	return effect, bound, nil
}

// claimHolder is unique, so that a repeated question is told from a second holder.
func (s EffectScope) claimHolder() string { return s.Holder + "#" + rand.Text()[:12] }
