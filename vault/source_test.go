package vault_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/redrivehq/redrive/vault"
)

// fakeKMS is a key management service with one key, which can be down. Tink's registry of clients is the process's, so each
// has a scheme of its own.
type fakeKMS struct {
	tink.AEAD
	uri  string
	down atomic.Bool
}

var errDown = errors.New("connection refused")

var kmsNumber atomic.Int64

func newKMS(t *testing.T) *fakeKMS {
	t.Helper()
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	require.NoError(t, err)
	key, err := aead.New(handle)
	require.NoError(t, err)
	kms := &fakeKMS{AEAD: key, uri: fmt.Sprintf("fake-kms-%d://projects/p/keys/k", kmsNumber.Add(1))}
	registry.RegisterKMSClient(kms)
	return kms
}

func (f *fakeKMS) Supported(uri string) bool         { return uri == f.uri }
func (f *fakeKMS) GetAEAD(string) (tink.AEAD, error) { return f, nil }
func (f *fakeKMS) Encrypt(p, associated []byte) ([]byte, error) {
	if f.down.Load() {
		return nil, errDown
	}
	return f.AEAD.Encrypt(p, associated)
}

func (f *fakeKMS) Decrypt(c, associated []byte) ([]byte, error) {
	if f.down.Load() {
		return nil, errDown
	}
	return f.AEAD.Decrypt(c, associated)
}

func TestPrivacyKeysetFromTheEnvironment(t *testing.T) {
	t.Parallel()
	keys := newKeyset(t)
	loaded, err := vault.Source{File: "/nowhere", JSON: string(plain(t, keys))}.Load()
	require.NoError(t, err)
	require.Equal(t, keys.ID(), loaded.ID())
	_, err = vault.Source{JSON: "hunter2"}.Load()
	require.ErrorIs(t, err, vault.ErrInvalidKeyset)
	require.NotContains(t, err.Error(), "hunter2")
}

func TestPrivacyKeysetUnderAKeyService(t *testing.T) {
	t.Parallel()
	kms := newKMS(t)
	keys := newKeyset(t)
	content, err := vault.Source{KMS: kms.uri}.Marshal(keys)
	require.NoError(t, err)
	require.NotContains(t, string(content), material(t, keys))

	source := vault.Source{File: keysetFile(t, content, 0o600), KMS: kms.uri}
	loaded, err := source.Load()
	require.NoError(t, err)
	require.Equal(t, keys.ID(), loaded.ID())

	t.Run("Down", func(t *testing.T) {
		t.Parallel()
		kms := newKMS(t)
		content, err := vault.Source{KMS: kms.uri}.Marshal(keys)
		require.NoError(t, err)
		kms.down.Store(true)
		_, err = vault.Source{JSON: string(content), KMS: kms.uri}.Load()
		require.ErrorIs(t, err, vault.ErrKeyService)
		require.ErrorIs(t, err, errDown)
		_, err = vault.Source{KMS: kms.uri}.Marshal(keys)
		require.ErrorIs(t, err, vault.ErrKeyService)
	})
	t.Run("NoClient", func(t *testing.T) {
		t.Parallel()
		_, err := vault.Source{JSON: string(content), KMS: "gcp-kms://projects/p"}.Load()
		require.ErrorIs(t, err, vault.ErrKeyService)
		require.ErrorContains(t, err, "no client for gcp-kms://projects/p is registered")
	})
	t.Run("OfAnotherService", func(t *testing.T) {
		t.Parallel()
		_, err := vault.Source{JSON: string(content), KMS: newKMS(t).uri}.Load()
		require.Error(t, err)
	})
	t.Run("InTheClear", func(t *testing.T) {
		t.Parallel()
		_, err := vault.Source{JSON: string(plain(t, keys)), KMS: kms.uri}.Load()
		require.ErrorIs(t, err, vault.ErrInvalidKeyset)
	})
	t.Run("EncryptedButNoServiceGiven", func(t *testing.T) {
		t.Parallel()
		_, err := vault.Source{JSON: string(content)}.Load()
		require.ErrorIs(t, err, vault.ErrInvalidKeyset)
	})
}

// material is a keyset's secret as its JSON form holds it.
func material(t *testing.T, keys *vault.Keyset) string {
	t.Helper()
	_, rest, found := strings.Cut(string(plain(t, keys)), `"value":"`)
	require.True(t, found)
	secret, _, _ := strings.Cut(rest, `"`)
	require.NotEmpty(t, secret)
	return secret
}

func TestPrivacyKeysAreListed(t *testing.T) {
	t.Parallel()
	first := newKeyset(t)
	second, err := first.Rotate()
	require.NoError(t, err)
	third, err := second.Rotate()
	require.NoError(t, err)
	destroyed, err := third.Destroy(first.ID())
	require.NoError(t, err)
	require.Equal(t, []vault.Key{
		{ID: first.ID(), Status: vault.KeyDestroyed},
		{ID: second.ID(), Status: vault.KeyEnabled},
		{ID: third.ID(), Primary: true, Status: vault.KeyEnabled},
	}, destroyed.Keys())
	require.Equal(t, vault.KeyEnabled, third.Keys()[0].Status, "the keyset before stays as it is")
	require.NotContains(t, string(plain(t, destroyed)), material(t, first), "the material is gone")

	loaded, err := vault.ParseKeyset(plain(t, destroyed))
	require.NoError(t, err)
	require.Equal(t, destroyed.Keys(), loaded.Keys())

	_, err = third.Destroy(third.ID())
	require.ErrorContains(t, err, "is the primary; rotate first")
	_, err = third.Destroy("7")
	require.ErrorIs(t, err, vault.ErrInvalidKeyset)
}
