package vault

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"

	"github.com/redrivehq/redrive/job"
)

// Errors of Open and of the codec. ErrForged and ErrKeyDestroyed are job.ErrPayloadGone: no later attempt heals them.
var (
	// ErrUnknownKey says that the keyset does not hold the key that sealed a payload, or has it disabled.
	// Another worker may hold it, or this one once it is restarted, so the payload is not gone.
	ErrUnknownKey = errors.New("unknown key")
	// ErrForged says that a row, or a payload of Temporal's, is not what was sealed for its place: changed, swapped or cut.
	ErrForged = fmt.Errorf("%w: it is not what was sealed for this reference and job", job.ErrPayloadGone)
	// ErrKeyDestroyed says that the key that sealed a payload was destroyed.
	ErrKeyDestroyed = fmt.Errorf("%w: its key was destroyed", job.ErrPayloadGone)
)

// Rows keeps sealed payloads. It is safe for concurrent use.
type Rows interface {
	// SealedPayload changes nothing. The error wraps job.ErrPayloadGone when the reference leads nowhere, now and later;
	// trouble that may pass is any other error.
	SealedPayload(ctx context.Context, ref job.PayloadRef) (job.SealedPayload, error)
	// SavePayload keeps the first payload of a reference, also an erased one; repeated it changes nothing.
	SavePayload(ctx context.Context, p job.SealedPayload) error
	// ErasePayload drops ciphertext and data key and keeps the reference. Repeated, or without such a row, it changes nothing.
	ErasePayload(ctx context.Context, ref job.PayloadRef, at time.Time) error
}

// Vault seals and opens payloads. It is safe for concurrent use.
type Vault struct {
	keys *Keyset
	rows Rows
}

// New returns a vault over rows.
func New(keys *Keyset, rows Rows) *Vault { return &Vault{keys: keys, rows: rows} }

// What a ciphertext is for is part of what it is bound to. Rows that were written before records had keys of their own are
// sealed with the keyset itself.
const (
	purposeRow     = "redrive payload v1"
	purposePayload = "redrive payload v2"
	purposeDataKey = "redrive data key v1"
)

// dataKeyBytes is the size of an AES-256 key.
const dataKeyBytes = 32

// Seal encrypts a payload for a row of the store: with a key of its own, which the keyset's primary key encrypts, so that
// dropping it erases the payload. Sealing twice gives different bytes that open alike. It stores nothing; the error says
// that the payload is too large, or is the cipher's, and never quotes the payload.
func (v *Vault) Seal(ref job.PayloadRef, id job.KeyID, plaintext []byte, now time.Time) (job.SealedPayload, error) {
	if len(plaintext) > job.MaxVaultBytes {
		return job.SealedPayload{}, fmt.Errorf("seal payload %s: it is %d bytes, the vault takes at most %d", ref, len(plaintext), job.MaxVaultBytes)
	}
	key := make([]byte, dataKeyBytes)
	_, _ = rand.Read(key) // never fails: it crashes the process instead (crypto/rand)
	cipher, err := subtle.NewAESGCM(key)
	if err != nil {
		return job.SealedPayload{}, fmt.Errorf("seal payload %s: %w", ref, err)
	}
	sealed := job.SealedPayload{Ref: ref, KeyID: id, KeysetID: v.keys.ID(), CreatedAt: now.UTC()}
	if sealed.Ciphertext, err = cipher.Encrypt(plaintext, binding(purposePayload, ref, id)); err == nil {
		sealed.DataKey, err = v.keys.seal(key, binding(purposeDataKey, ref, id))
	}
	if err != nil {
		return job.SealedPayload{}, fmt.Errorf("seal payload %s: %w", ref, err)
	}
	return sealed, nil
}

// Put seals a payload and stores it; subject is whom it is about, for erasure, and may be empty. Repeated with the same reference it changes nothing.
func (v *Vault) Put(ctx context.Context, ref job.PayloadRef, id job.KeyID, subject string, plaintext []byte) error {
	sealed, err := v.Seal(ref, id, plaintext, time.Now())
	if err != nil {
		return err
	}
	sealed.Subject = subject
	return v.rows.SavePayload(ctx, sealed)
}

// Erase drops the payload behind a reference, and the key that opened it, for good.
func (v *Vault) Erase(ctx context.Context, ref job.PayloadRef) error {
	return v.rows.ErasePayload(ctx, ref, time.Now().UTC())
}

// Open returns the payload behind a reference of the job that id names: a reference is safe to copy, since it opens for
// no other job. What will not heal wraps job.ErrPayloadGone: no row, ErrForged, ErrKeyDestroyed. Any other error may pass:
// the store's, or ErrUnknownKey.
func (v *Vault) Open(ctx context.Context, ref job.PayloadRef, id job.KeyID) ([]byte, error) {
	sealed, err := v.rows.SealedPayload(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("open payload %s: %w", ref, err)
	}
	plaintext, err := v.open(sealed, ref, id)
	if err == nil && sealed.KeyID != id {
		err = ErrForged
	}
	if err != nil {
		return nil, fmt.Errorf("open payload %s: %w", ref, err)
	}
	return plaintext, nil
}

func (v *Vault) open(sealed job.SealedPayload, ref job.PayloadRef, id job.KeyID) ([]byte, error) {
	if len(sealed.DataKey) == 0 {
		return v.keys.open(sealed.Ciphertext, binding(purposeRow, ref, id), sealed.KeysetID)
	}
	key, err := v.keys.open(sealed.DataKey, binding(purposeDataKey, ref, id), sealed.KeysetID)
	if err != nil {
		return nil, err
	}
	cipher, err := subtle.NewAESGCM(key)
	if err != nil {
		return nil, ErrForged
	}
	plaintext, err := cipher.Decrypt(sealed.Ciphertext, binding(purposePayload, ref, id))
	if err != nil {
		return nil, ErrForged
	}
	return plaintext, nil
}

// binding is the associated data: it ties a ciphertext to its purpose, reference and job, so that a row put in another's
// place does not open. Its parts cannot run into each other: a reference and a type hold no NUL.
func binding(purpose string, ref job.PayloadRef, id job.KeyID) []byte {
	return []byte(purpose + "\x00" + string(ref) + "\x00" + string(id.Type) + "\x00" + string(id.Key))
}
