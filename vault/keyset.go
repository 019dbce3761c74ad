package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// ErrInvalidKeyset is wrapped when a keyset cannot be used; the text never holds key material.
var ErrInvalidKeyset = errors.New("invalid keyset")

// Keyset seals with its primary key and opens with any of its keys. It is safe for concurrent use.
type Keyset struct {
	handle *keyset.Handle
	aead   tink.AEAD
}

// GenerateKeyset makes a keyset with one AES-256-GCM key.
func GenerateKeyset() (*Keyset, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("generate keyset: %w", err)
	}
	return newKeyset(handle)
}

// ParseKeyset reads a keyset in Tink's JSON form, as MarshalPlain writes it.
func ParseKeyset(json []byte) (*Keyset, error) {
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(json)))
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a Tink keyset in JSON", ErrInvalidKeyset)
	}
	return newKeyset(handle)
}

func newKeyset(handle *keyset.Handle) (*Keyset, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("%w: its keys do not encrypt with associated data (AEAD)", ErrInvalidKeyset)
	}
	return &Keyset{handle: handle, aead: primitive}, nil
}

// LoadKeyset reads a keyset file. A file that others than its owner may read is refused.
func LoadKeyset(path string) (*Keyset, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no file %s; make one with `redrive keys create`", ErrInvalidKeyset, path)
	}
	if err != nil {
		return nil, fmt.Errorf("keyset: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s has mode %#o, only its owner may read it (0600)", ErrInvalidKeyset, path, mode)
	}
	raw, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("keyset: %w", err)
	}
	return ParseKeyset(raw)
}

// MarshalPlain returns the keyset with its keys in the clear, for a file of mode 0600.
func (k *Keyset) MarshalPlain() ([]byte, error) {
	var b bytes.Buffer
	if err := insecurecleartextkeyset.Write(k.handle, keyset.NewJSONWriter(&b)); err != nil {
		return nil, fmt.Errorf("marshal keyset: %w", err)
	}
	return b.Bytes(), nil
}

// ID names the primary key. It is safe to show.
func (k *Keyset) ID() string {
	return strconv.FormatUint(uint64(k.handle.KeysetInfo().GetPrimaryKeyId()), 10)
}
