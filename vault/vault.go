package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Errors of Open. ErrForged is job.ErrPayloadGone: no later attempt heals it.
var (
	// ErrUnknownKey says that the keyset does not hold the key that sealed a payload, or has it disabled.
	// Another worker may hold it, or this one once it is restarted, so the payload is not gone.
	ErrUnknownKey = errors.New("unknown key")
	// ErrForged says that a row is not what was sealed for its reference and job: changed, swapped or cut.
	ErrForged = fmt.Errorf("%w: the row is not what was sealed for this reference and job", job.ErrPayloadGone)
)

// Rows reads sealed payloads. It is safe for concurrent use.
type Rows interface {
	// SealedPayload changes nothing. The error wraps job.ErrPayloadGone when the reference leads nowhere, now and later;
	// trouble that may pass is any other error.
	SealedPayload(ctx context.Context, ref job.PayloadRef) (job.SealedPayload, error)
}

// Vault seals and opens payloads. It is safe for concurrent use.
type Vault struct {
	keys *Keyset
	rows Rows
}

// New returns a vault over rows.
func New(keys *Keyset, rows Rows) *Vault { return &Vault{keys: keys, rows: rows} }

// Seal encrypts a payload for a row of the store, with the keyset's primary key. Sealing twice gives different bytes that
// open alike. It stores nothing; the error is the cipher's, and never quotes the payload.
func (v *Vault) Seal(ref job.PayloadRef, id job.KeyID, plaintext []byte, now time.Time) (job.SealedPayload, error) {
	ciphertext, err := v.keys.aead.Encrypt(plaintext, binding(ref, id))
	if err != nil {
		return job.SealedPayload{}, fmt.Errorf("seal payload %s: %w", ref, err)
	}
	return job.SealedPayload{Ref: ref, KeyID: id, KeysetID: v.keys.ID(), Ciphertext: ciphertext, CreatedAt: now.UTC()}, nil
}

// Open returns the payload behind a reference of the job that id names: a reference is safe to copy, since it opens for
// no other job. What will not heal wraps job.ErrPayloadGone: no row,
// ErrForged. Any other error is the store's and may pass.
func (v *Vault) Open(ctx context.Context, ref job.PayloadRef, id job.KeyID) ([]byte, error) {
	sealed, err := v.rows.SealedPayload(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("open payload %s: %w", ref, err)
	}
	plaintext, err := v.keys.aead.Decrypt(sealed.Ciphertext, binding(ref, id))
	switch {
	case err == nil && sealed.KeyID == id:
		return plaintext, nil
	case err != nil && !v.keys.holds(sealed.KeysetID):
		return nil, fmt.Errorf("open payload %s: %w: it was sealed with key %q, the keyset's primary is %s",
			ref, ErrUnknownKey, sealed.KeysetID, v.keys.ID())
	default:
		return nil, fmt.Errorf("open payload %s: %w", ref, ErrForged)
	}
}

// binding is the associated data: it ties a ciphertext to its purpose, reference and job, so that a row put in another's
// place does not open. Its parts cannot run into each other: a reference and a type hold no NUL.
func binding(ref job.PayloadRef, id job.KeyID) []byte {
	return []byte("redrive payload v1\x00" + string(ref) + "\x00" + string(id.Type) + "\x00" + string(id.Key))
}
