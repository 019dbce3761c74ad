package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Rows reads sealed payloads; a reference that leads nowhere wraps job.ErrPayloadGone. It is safe for concurrent use.
type Rows interface {
	SealedPayload(ctx context.Context, ref job.PayloadRef) (job.SealedPayload, error)
}

// Vault seals and opens payloads. It is safe for concurrent use.
type Vault struct {
	keys *Keyset
	rows Rows
}

// New returns a vault over rows.
func New(keys *Keyset, rows Rows) *Vault { return &Vault{keys: keys, rows: rows} }

// Seal encrypts a payload for a row of the store.
func (v *Vault) Seal(ref job.PayloadRef, id job.KeyID, plaintext []byte, now time.Time) (job.SealedPayload, error) {
	ciphertext, err := v.keys.aead.Encrypt(plaintext, binding(ref, id))
	if err != nil {
		return job.SealedPayload{}, fmt.Errorf("seal payload %s: %w", ref, err)
	}
	return job.SealedPayload{Ref: ref, KeyID: id, KeysetID: v.keys.ID(), Ciphertext: ciphertext, CreatedAt: now.UTC()}, nil
}

// Open returns the payload behind a reference. What will not heal wraps job.ErrPayloadGone: no row, a key that this
// keyset does not hold, bytes that are not what was sealed for this reference and job.
func (v *Vault) Open(ctx context.Context, ref job.PayloadRef) ([]byte, error) {
	sealed, err := v.rows.SealedPayload(ctx, ref)
	if err != nil {
		return nil, err
	}
	plaintext, err := v.keys.aead.Decrypt(sealed.Ciphertext, binding(ref, sealed.KeyID))
	if err != nil {
		return nil, fmt.Errorf("payload %s: sealed by keyset %s, this one (%s) does not open it: %w",
			ref, sealed.KeysetID, v.keys.ID(), job.ErrPayloadGone)
	}
	return plaintext, nil
}

// binding is the associated data. Its parts cannot run into each other: a reference and a type hold no NUL.
func binding(ref job.PayloadRef, id job.KeyID) []byte {
	return []byte(string(ref) + "\x00" + string(id.Type) + "\x00" + string(id.Key))
}
