package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/redrivehq/redrive/job"
)

// Settler is the ledger as operators see it; *store.DB is one. It is safe for concurrent use. Errors other than those
// named are retried.
type Settler interface {
	// Standing returns where the effects of a lineage stand, unsettled ones first, at most job.MaxListedEffects.
	Standing(ctx context.Context, id job.DeadLetterID) ([]job.EffectStanding, error)
	// Effect returns an effect; the error wraps job.ErrNotFound.
	Effect(ctx context.Context, id job.EffectID) (job.EffectRecord, error)
	// Reconcile settles an effect, and repeated changes nothing. The error wraps job.ErrNotFound, job.ErrFenced,
	// job.ErrEffectHeld, job.ErrEffectSettled or job.ErrEffectResult.
	Reconcile(ctx context.Context, s job.Settlement) error
}

// FindEffect returns where an effect stands, or nil when the ledger does not know it. Its fence goes into the settlement:
// the word is about this claim and no later one.
func (d *DeadLetters) FindEffect(ctx context.Context, id job.EffectID) (*job.EffectStanding, error) {
	if d.options.Effects == nil {
		return nil, nil
	}
	record, err := d.options.Effects.Effect(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	standing := record.Standing()
	return &standing, nil
}

// SettleEffect writes an operator's word into the ledger, or says why the ledger does not take it.
func (d *DeadLetters) SettleEffect(ctx context.Context, s job.Settlement) (*job.Refusal, error) {
	if d.options.Effects == nil {
		return nil, fmt.Errorf("settle effect %s: %w", s.Effect, job.ErrLedgerUnavailable)
	}
	err := d.options.Effects.Reconcile(ctx, s)
	refuse := func(code job.RefusalCode, detail string) (*job.Refusal, error) {
		return &job.Refusal{Code: code, Detail: "effect " + s.Effect.Name + " " + detail}, nil
	}
	var held *job.EffectHeldError
	switch {
	case errors.As(err, &held):
		return refuse(job.RefusedTooEarly, fmt.Sprintf("is held by a live attempt; ask again in %s", held.For))
	case errors.Is(err, job.ErrFenced), errors.Is(err, job.ErrNotFound):
		return refuse(job.RefusedInvalidRequest, "was claimed by another attempt meanwhile; look again before you settle it")
	case errors.Is(err, job.ErrEffectSettled):
		return refuse(job.RefusedInvalidRequest, "is recorded as done: it did happen")
	case errors.Is(err, job.ErrEffectResult):
		return refuse(job.RefusedInvalidRequest, "cannot keep this result: it must be JSON of at most 64 KiB")
	}
	return nil, err
}

// standing brings a letter's effects up to date from the ledger, which need not be in the store's database.
func (d *DeadLetters) standing(ctx context.Context, letter *job.DeadLetter) (err error) {
	if d.options.Effects != nil {
		letter.Effects, err = d.options.Effects.Standing(ctx, letter.ID)
	}
	return err
}
