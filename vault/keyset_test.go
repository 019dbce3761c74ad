package vault_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/mac"

	"github.com/redrivehq/redrive/vault"
)

func keysetFile(t *testing.T, content []byte, mode os.FileMode) string {
	path := filepath.Join(t.TempDir(), "keyset.json")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	require.NoError(t, os.Chmod(path, mode)) // whatever the umask is
	return path
}

func plain(t *testing.T, keys *vault.Keyset) []byte {
	content, err := keys.MarshalPlain()
	require.NoError(t, err)
	return content
}

func TestKeysetRoundTrip(t *testing.T) {
	t.Parallel()
	stored, keys := newRows(), newKeyset(t)
	sealed, err := vault.New(keys, stored).Seal("pl_a", receipt(), []byte("x"), time.Now())
	require.NoError(t, err)
	stored.put("pl_a", sealed)

	loaded, err := vault.LoadKeyset(keysetFile(t, plain(t, keys), 0o600))
	require.NoError(t, err)
	require.Equal(t, keys.ID(), loaded.ID())
	opened, err := vault.New(loaded, stored).Open(t.Context(), "pl_a", receipt())
	require.NoError(t, err)
	require.Equal(t, "x", string(opened))
}

func TestLoadKeysetRefuses(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o660, 0o620, 0o601, 0o777} {
		t.Run(fmt.Sprintf("Mode%#o", mode), func(t *testing.T) {
			t.Parallel()
			path := keysetFile(t, plain(t, newKeyset(t)), mode)
			_, err := vault.LoadKeyset(path)
			require.ErrorIs(t, err, vault.ErrInvalidKeyset)
			require.ErrorContains(t, err, fmt.Sprintf("%s has mode %#o and must have 0600", path, mode))
		})
	}
	t.Run("MissingFile", func(t *testing.T) {
		t.Parallel()
		_, err := vault.LoadKeyset(filepath.Join(t.TempDir(), "none.json"))
		require.ErrorIs(t, err, vault.ErrInvalidKeyset)
		require.ErrorContains(t, err, "redrive keys create")
	})
	t.Run("Directory", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "dir")
		require.NoError(t, os.Mkdir(path, 0o700))
		_, err := vault.LoadKeyset(path)
		require.Error(t, err)
	})
}

func TestParseKeysetRefuses(t *testing.T) {
	t.Parallel()
	var content map[string]any
	require.NoError(t, json.Unmarshal(plain(t, newKeyset(t)), &content))
	key := content["key"].([]any)[0].(map[string]any)["keyData"].(map[string]any)
	secret := key["value"].(string)
	key["typeUrl"] = "type.googleapis.com/no.such.Key"
	foreign, err := json.Marshal(content)
	require.NoError(t, err)

	for name, input := range map[string][]byte{
		"Empty": nil, "NotJSON": []byte("hunter2"), "NoKeys": []byte(`{"primaryKeyId":1,"key":[]}`), "UnknownKind": foreign,
		"NotForEncryption": macKeyset(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := vault.ParseKeyset(input)
			require.ErrorIs(t, err, vault.ErrInvalidKeyset)
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func macKeyset(t *testing.T) []byte {
	handle, err := keyset.NewHandle(mac.HMACSHA256Tag256KeyTemplate())
	require.NoError(t, err)
	var content jsonBuffer
	require.NoError(t, insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(&content)))
	return content
}

type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) { *b = append(*b, p...); return len(p), nil }

func TestKeysetIsNotPrinted(t *testing.T) {
	t.Parallel()
	keys := newKeyset(t)
	var content struct {
		Key []struct{ KeyData struct{ Value string } }
	}
	require.NoError(t, json.Unmarshal(plain(t, keys), &content))
	require.NotEmpty(t, content.Key[0].KeyData.Value)
	for _, text := range []string{fmt.Sprint(keys), fmt.Sprintf("%+v", keys), fmt.Sprintf("%#v", keys)} {
		require.NotContains(t, text, content.Key[0].KeyData.Value)
	}
	encoded, err := json.Marshal(map[string]any{"keys": keys})
	require.NoError(t, err)
	require.JSONEq(t, `{"keys":{}}`, string(encoded))
}
