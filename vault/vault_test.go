package vault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

// rows is a store in memory that can be down.
type rows struct {
	sealed map[job.PayloadRef]job.SealedPayload
	down   error
}

func (r *rows) SealedPayload(_ context.Context, ref job.PayloadRef) (job.SealedPayload, error) {
	if r.down != nil {
		return job.SealedPayload{}, r.down
	}
	p, ok := r.sealed[ref]
	if !ok {
		return p, fmt.Errorf("read %s: %w", ref, job.ErrPayloadGone)
	}
	return p, nil
}

func (r *rows) put(ref job.PayloadRef, p job.SealedPayload) { r.sealed[ref] = p }

func (r *rows) SavePayload(_ context.Context, p job.SealedPayload) error {
	if _, known := r.sealed[p.Ref]; !known {
		r.sealed[p.Ref] = p
	}
	return r.down
}

func (r *rows) ErasePayload(_ context.Context, ref job.PayloadRef, _ time.Time) error {
	delete(r.sealed, ref)
	return r.down
}

func newRows() *rows { return &rows{sealed: map[job.PayloadRef]job.SealedPayload{}} }

func newKeyset(t require.TestingT) *vault.Keyset {
	keys, err := vault.GenerateKeyset()
	require.NoError(t, err)
	return keys
}

func receipt() job.KeyID { return job.KeyID{Type: "email.send", Key: "order-1"} }

func TestOpenIsTheInverseOfSeal(t *testing.T) {
	t.Parallel()
	keys := newKeyset(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("elsewhere", 3600))
	rapid.Check(t, func(rt *rapid.T) {
		stored := newRows()
		v := vault.New(keys, stored)
		plaintext := rapid.SliceOf(rapid.Byte()).Draw(rt, "plaintext")
		ref := job.PayloadRef(rapid.StringMatching(`pl_[a-z2-7]{1,26}`).Draw(rt, "ref"))
		id := job.KeyID{Type: job.Type(rapid.StringMatching(`[a-z.]{1,9}`).Draw(rt, "type")), Key: job.Key(rapid.String().Draw(rt, "key"))}
		sealed, err := v.Seal(ref, id, plaintext, now)
		require.NoError(rt, err)
		require.Equal(rt, ref, sealed.Ref)
		require.Equal(rt, id, sealed.KeyID)
		require.Equal(rt, keys.ID(), sealed.KeysetID)
		require.Equal(rt, now.UTC(), sealed.CreatedAt)
		if len(plaintext) >= 6 { // fewer bytes appear by chance
			require.False(rt, bytes.Contains(sealed.Ciphertext, plaintext))
		}
		stored.put(ref, sealed)
		opened, err := v.Open(t.Context(), ref, id)
		require.NoError(rt, err)
		require.True(rt, bytes.Equal(plaintext, opened))
	})
}

func TestOpenRefusesWhatWasNotSealed(t *testing.T) {
	t.Parallel()
	keys := newKeyset(t)
	rapid.Check(t, func(rt *rapid.T) {
		stored := newRows()
		v := vault.New(keys, stored)
		secret := rapid.SliceOfN(rapid.Byte(), 8, 64).Draw(rt, "plaintext")
		sealed, err := v.Seal("pl_a", receipt(), secret, time.Now())
		require.NoError(rt, err)
		sealed.Ciphertext, sealed.DataKey = bytes.Clone(sealed.Ciphertext), bytes.Clone(sealed.DataKey)
		ref := job.PayloadRef("pl_a")
		switch rapid.SampledFrom([]string{"bit", "cut", "grown", "ref", "type", "key", "boundary", "data key", "no data key", "other data key"}).Draw(rt, "change") {
		case "bit":
			bit := rapid.IntRange(0, 8*len(sealed.Ciphertext)-1).Draw(rt, "bit")
			sealed.Ciphertext[bit/8] ^= 1 << (bit % 8)
		case "cut":
			sealed.Ciphertext = sealed.Ciphertext[:rapid.IntRange(0, len(sealed.Ciphertext)-1).Draw(rt, "length")]
		case "grown":
			sealed.Ciphertext = append(sealed.Ciphertext, rapid.Byte().Draw(rt, "byte"))
		case "data key":
			bit := rapid.IntRange(0, 8*len(sealed.DataKey)-1).Draw(rt, "bit")
			sealed.DataKey[bit/8] ^= 1 << (bit % 8)
		case "no data key":
			sealed.DataKey = nil
		case "other data key":
			other, err := v.Seal("pl_a", receipt(), secret, time.Now())
			require.NoError(rt, err)
			sealed.DataKey = other.DataKey
		case "ref":
			ref = "pl_b"
		case "type":
			sealed.KeyID.Type = "webhook"
		case "key":
			sealed.KeyID.Key = "order-2"
		case "boundary":
			sealed.KeyID = job.KeyID{Type: "email.sen", Key: "dorder-1"}
		}
		stored.put(ref, sealed)
		opened, err := v.Open(t.Context(), ref, receipt())
		require.ErrorIs(rt, err, vault.ErrForged)
		require.ErrorIs(rt, err, job.ErrPayloadGone)
		require.NotErrorIs(rt, err, vault.ErrUnknownKey)
		require.Nil(rt, opened)
		require.NotContains(rt, err.Error(), string(secret))
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()

	t.Run("NoRow", func(t *testing.T) {
		t.Parallel()
		_, err := vault.New(newKeyset(t), newRows()).Open(t.Context(), "pl_nowhere", receipt())
		require.ErrorIs(t, err, job.ErrPayloadGone)
		require.NotErrorIs(t, err, vault.ErrForged)
	})
	t.Run("AnotherJobsReference", func(t *testing.T) {
		t.Parallel()
		stored, keys := newRows(), newKeyset(t)
		sealed, err := vault.New(keys, stored).Seal("pl_a", receipt(), []byte("secret"), time.Now())
		require.NoError(t, err)
		stored.put("pl_a", sealed)
		_, err = vault.New(keys, stored).Open(t.Context(), "pl_a", job.KeyID{Type: "other.job", Key: "thief"})
		require.ErrorIs(t, err, vault.ErrForged)
	})
	t.Run("StoreDown", func(t *testing.T) {
		t.Parallel()
		stored := newRows()
		stored.down = errors.New("connection refused")
		_, err := vault.New(newKeyset(t), stored).Open(t.Context(), "pl_a", receipt())
		require.ErrorIs(t, err, stored.down)
		require.NotErrorIs(t, err, job.ErrPayloadGone)
	})
	t.Run("UnknownKey", func(t *testing.T) {
		t.Parallel()
		stored, sealing := newRows(), newKeyset(t)
		sealed, err := vault.New(sealing, stored).Seal("pl_a", receipt(), []byte("secret"), time.Now())
		require.NoError(t, err)
		stored.put("pl_a", sealed)
		_, err = vault.New(newKeyset(t), stored).Open(t.Context(), "pl_a", receipt())
		require.ErrorIs(t, err, vault.ErrUnknownKey)
		require.NotErrorIs(t, err, job.ErrPayloadGone, "another worker may hold the key")
		require.ErrorContains(t, err, sealing.ID())
	})
	t.Run("AfterRotation", func(t *testing.T) {
		t.Parallel()
		stored, before := newRows(), newKeyset(t)
		sealed, err := vault.New(before, stored).Seal("pl_a", receipt(), []byte("old"), time.Now())
		require.NoError(t, err)
		stored.put("pl_a", sealed)

		after, err := before.Rotate()
		require.NoError(t, err)
		require.NotEqual(t, before.ID(), after.ID())
		v := vault.New(after, stored)
		opened, err := v.Open(t.Context(), "pl_a", receipt())
		require.NoError(t, err)
		require.Equal(t, "old", string(opened))

		sealed, err = v.Seal("pl_b", receipt(), []byte("new"), time.Now())
		require.NoError(t, err)
		require.Equal(t, after.ID(), sealed.KeysetID)
		stored.put("pl_b", sealed)
		_, err = vault.New(before, stored).Open(t.Context(), "pl_b", receipt())
		require.ErrorIs(t, err, vault.ErrUnknownKey, "a worker that was not given the new keyset")
	})
	t.Run("KeyDestroyed", func(t *testing.T) {
		t.Parallel()
		stored, before := newRows(), newKeyset(t)
		require.NoError(t, vault.New(before, stored).Put(t.Context(), "pl_a", receipt(), "", []byte("old")))
		after, err := before.Rotate()
		require.NoError(t, err)
		after, err = after.Destroy(before.ID())
		require.NoError(t, err)
		_, err = vault.New(after, stored).Open(t.Context(), "pl_a", receipt())
		require.ErrorIs(t, err, vault.ErrKeyDestroyed)
		require.ErrorIs(t, err, job.ErrPayloadGone)
		require.NotErrorIs(t, err, vault.ErrForged)
	})
	t.Run("Erased", func(t *testing.T) {
		t.Parallel()
		v := vault.New(newKeyset(t), newRows())
		require.NoError(t, v.Put(t.Context(), "pl_a", receipt(), "", []byte("secret")))
		require.NoError(t, v.Erase(t.Context(), "pl_a"))
		_, err := v.Open(t.Context(), "pl_a", receipt())
		require.ErrorIs(t, err, job.ErrPayloadGone)
	})
	t.Run("PutTwiceKeepsTheFirst", func(t *testing.T) {
		t.Parallel()
		v := vault.New(newKeyset(t), newRows())
		require.NoError(t, v.Put(t.Context(), "pl_a", receipt(), "", []byte("first")))
		require.NoError(t, v.Put(t.Context(), "pl_a", receipt(), "", []byte("second")))
		opened, err := v.Open(t.Context(), "pl_a", receipt())
		require.NoError(t, err)
		require.Equal(t, "first", string(opened))
	})
	t.Run("TooLarge", func(t *testing.T) {
		t.Parallel()
		stored := newRows()
		err := vault.New(newKeyset(t), stored).Put(t.Context(), "pl_a", receipt(), "", make([]byte, job.MaxVaultBytes+1))
		require.ErrorContains(t, err, "16777217 bytes, the vault takes at most 16777216")
		require.Empty(t, stored.sealed)
	})
}

// A record's own key opens it and no other record, and what it opens is sealed with nothing else.
func TestEachRecordHasItsOwnKey(t *testing.T) {
	t.Parallel()
	keys := newKeyset(t)
	v := vault.New(keys, newRows())
	a, err := v.Seal("pl_a", receipt(), []byte("secret"), time.Now())
	require.NoError(t, err)
	b, err := v.Seal("pl_b", receipt(), []byte("secret"), time.Now())
	require.NoError(t, err)
	require.NotEmpty(t, a.DataKey)
	require.NotEqual(t, a.DataKey, b.DataKey)
	stored := newRows()
	a.DataKey = b.DataKey
	stored.put("pl_a", a)
	_, err = vault.New(keys, stored).Open(t.Context(), "pl_a", receipt())
	require.ErrorIs(t, err, vault.ErrForged)
}
