package job

import (
	"context"
	"encoding/json"
	"time"
)

// Dedupe says who recognises a key that was processed before.
type Dedupe string

// The ways to recognise a key.
const (
	// DedupeTemporal: Temporal does, for as long as the namespace keeps closed runs. It costs nothing.
	DedupeTemporal Dedupe = "temporal"
	// DedupeStore: the ledger does too, for the key TTL; see OnceForKey. It costs each attempt one transaction before the
	// handler, and each job one after it.
	DedupeStore Dedupe = "store"
)

// AllDedupes returns every way.
func AllDedupes() []Dedupe { return []Dedupe{DedupeTemporal, DedupeStore} }

// EffectJob is the ledger's row for a job as a whole.
const EffectJob = reservedEffects + "job"

// OnceForKey calls do unless the running attempt's key was processed before, which is when an earlier do returned no
// error and its record was written. It then returns what that do gave it to keep: nil, if that was nil. The key alone
// decides, not the payload.
//
// It keeps nobody out: attempts of one run may overlap, as they do without it. The claim lapses at once, and the next
// attempt takes it over; a stale one can then not record any more, and gets ErrFenced. Errors are those of do and of Once.
func OnceForKey(ctx context.Context, do func() (keep json.RawMessage, err error)) (kept json.RawMessage, already bool, err error) {
	effect, bound, err := anyEffectFrom(ctx, EffectJob)
	if err != nil {
		return nil, false, err
	}
	c := &effectCall{
		ledger: bound.ledger, scope: bound.scope, wait: time.Second, // longer than any claim here is live
		request: ClaimRequest{
			Effect: effect, Holder: bound.scope.claimHolder(), Lease: time.Microsecond, KeyTTL: bound.scope.KeyTTL,
			Downstream: true, // the handler keeps its effects single itself
		},
	}
	kept, already, err = c.claim(ctx)
	if err != nil || already {
		return kept, already, err
	}
	keep, err := do()
	if err != nil {
		return nil, false, err
	}
	err = c.persist(ctx, func(ctx context.Context) error { return c.ledger.Complete(ctx, c.granted, keep) })
	if err != nil {
		return nil, false, c.refused("record", err, false)
	}
	return keep, false, nil
}
