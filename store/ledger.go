package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redrivehq/redrive/job"
)

// DB is a job.Ledger.
var _ job.Ledger = (*DB)(nil)

// Claim grants an effect, or says that it is done; see job.Ledger. A claim that lapsed is taken over when both it and the
// request are for a system that deduplicates. Otherwise the effect becomes unknown, which is durable when Claim returns.
func (db *DB) Claim(ctx context.Context, r job.ClaimRequest) (job.Claimed, error) {
	if err := r.Validate(); err != nil {
		return job.Claimed{}, err
	}
	var claimed job.Claimed
	err := db.settle(ctx, func(ctx context.Context, tx *sql.Tx) (refused, trouble error) {
		if err := db.insertEffect(ctx, tx, r.Effect, r.KeyTTL); err != nil {
			return nil, err
		}
		e, err := db.lockEffect(ctx, tx, r.Effect)
		if err != nil {
			return nil, err
		}
		refused = e.claim(r)
		claimed = job.Claimed{Claim: job.EffectClaim{Effect: r.Effect, Fence: e.Fence}, Done: e.State == job.EffectDone, Result: e.Result}
		return refused, db.updateEffect(ctx, tx, e)
	})
	if err != nil {
		return job.Claimed{}, db.wrapEffect(ctx, err, "claim", r.Effect)
	}
	return claimed, nil
}

// claim moves the row as the request asks, or refuses.
func (e *effect) claim(r job.ClaimRequest) error {
	e.keep(r.KeyTTL)
	live := e.State == job.EffectClaimed && !e.Lapsed
	switch {
	case e.State == job.EffectDone:
		return nil
	case live && e.Holder == r.Holder: // the first answer was lost
		return nil
	case live:
		return &job.EffectHeldError{Effect: r.Effect, For: e.ClaimExpires.Sub(e.now)}
	case e.State == job.EffectUnknown:
		return job.ErrEffectUnknown
	case e.State == job.EffectClaimed && !(e.Downstream && r.Downstream):
		e.State = job.EffectUnknown
		return job.ErrEffectUnknown
	}
	e.Fence++
	e.State, e.Holder, e.Downstream = job.EffectClaimed, r.Holder, r.Downstream
	e.lease(r.Lease)
	return nil
}

// Renew keeps a claim live for another lease; see job.Ledger.
func (db *DB) Renew(ctx context.Context, c job.EffectClaim, lease time.Duration) error {
	return db.changeEffect(ctx, "renew", c.Effect, func(e *effect) error {
		if c.Fence != e.Fence || e.State != job.EffectClaimed {
			return job.ErrFenced
		}
		e.lease(lease)
		return nil
	})
}

// Complete records that an effect happened; see job.Ledger. The first result stays. An effect without a row is fenced:
// it was purged.
func (db *DB) Complete(ctx context.Context, c job.EffectClaim, result json.RawMessage) error {
	if err := job.CheckEffectResult(result); err != nil {
		return db.wrapEffect(ctx, err, "complete", c.Effect)
	}
	return db.changeEffect(ctx, "complete", c.Effect, func(e *effect) error {
		if c.Fence != e.Fence {
			return job.ErrFenced
		}
		e.done(result)
		return nil
	})
}

// Release gives a claim back; see job.Ledger. One that was called unknown since may be given back as free: its holder is
// who knows.
func (db *DB) Release(ctx context.Context, c job.EffectClaim, to job.EffectState) error {
	if to != job.EffectFree && to != job.EffectUnknown {
		return fmt.Errorf("release effect %s: %w: to state %q, allowed are free and unknown", c.Effect, job.ErrInvalidEffect, to)
	}
	return db.changeEffect(ctx, "release", c.Effect, func(e *effect) error {
		if c.Fence != e.Fence {
			return job.ErrFenced
		}
		if e.State == job.EffectClaimed || e.State == job.EffectUnknown {
			e.State = to
		}
		return nil
	})
}

// Reconcile settles an effect of which nobody recorded whether it happened: one that is unknown, or whose claim lapsed.
// Happened makes it done, and may also bring the result of a done effect that has none; otherwise it is free again.
// Repeated, it changes nothing. The error wraps job.ErrNotFound, job.ErrFenced when s names another fence,
// job.ErrEffectHeld when the claim is live, job.ErrEffectSettled when it did happen, or job.ErrEffectResult.
func (db *DB) Reconcile(ctx context.Context, s job.Settlement) error {
	if err := job.CheckEffectResult(s.Result); err != nil {
		return db.wrapEffect(ctx, err, "reconcile", s.Effect)
	}
	err := db.settle(ctx, func(ctx context.Context, tx *sql.Tx) (refused, trouble error) {
		e, err := db.lockEffect(ctx, tx, s.Effect)
		if err != nil {
			return nil, err
		}
		if refused := e.reconcile(s); refused != nil {
			return refused, nil
		}
		return nil, db.updateEffect(ctx, tx, e)
	})
	return db.wrapEffect(ctx, err, "reconcile", s.Effect)
}

func (e *effect) reconcile(s job.Settlement) error {
	switch {
	case s.Fence != 0 && s.Fence != e.Fence:
		return job.ErrFenced
	case e.State == job.EffectClaimed && !e.Lapsed:
		return &job.EffectHeldError{Effect: s.Effect, For: e.ClaimExpires.Sub(e.now)}
	case s.Happened:
		e.done(s.Result)
	case e.State == job.EffectDone:
		return job.ErrEffectSettled
	default:
		e.State = job.EffectFree
	}
	return nil
}

// changeEffect lets change move the row of a claim. A row that is gone is fenced: its claim means nothing any more.
func (db *DB) changeEffect(ctx context.Context, op string, id job.EffectID, change func(*effect) error) error {
	err := db.settle(ctx, func(ctx context.Context, tx *sql.Tx) (refused, trouble error) {
		e, err := db.lockEffect(ctx, tx, id)
		if errors.Is(err, job.ErrNotFound) {
			return job.ErrFenced, nil
		}
		if err != nil {
			return nil, err
		}
		if refused := change(e); refused != nil {
			return refused, nil
		}
		return nil, db.updateEffect(ctx, tx, e)
	})
	return db.wrapEffect(ctx, err, op, id)
}

// settle is write for a transaction that is committed also when it refuses: a refusal may be worth recording.
func (db *DB) settle(ctx context.Context, work func(context.Context, *sql.Tx) (refused, trouble error)) error {
	var refused error
	err := db.write(ctx, func(tx *sql.Tx) (trouble error) {
		refused, trouble = work(ctx, tx)
		return trouble
	})
	if err != nil {
		return err
	}
	return refused
}

// wrapEffect is wrap with the ledger's own errors, which pass as they are.
func (db *DB) wrapEffect(ctx context.Context, err error, op string, id job.EffectID) error {
	for _, own := range []error{
		job.ErrEffectHeld, job.ErrEffectUnknown, job.ErrFenced, job.ErrEffectSettled, job.ErrEffectResult, job.ErrInvalidEffect,
	} {
		if errors.Is(err, own) {
			return fmt.Errorf("%s effect %s: %w", op, id, err)
		}
	}
	return db.wrap(ctx, err, "%s effect %s", op, id)
}
