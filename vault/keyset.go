package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
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

// LoadKeyset reads a keyset file. A file that group or others have any access to is refused, since its keys open every
// payload; the error names its mode and the wanted one. Errors about the file or its content wrap ErrInvalidKeyset.
func LoadKeyset(path string) (*Keyset, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no file %s; make one with `redrive keys create`", ErrInvalidKeyset, path)
	}
	if err != nil {
		return nil, fmt.Errorf("load keyset: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()            // of the file that is read, not of one put in its place
	if err != nil {
		return nil, fmt.Errorf("load keyset: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s has mode %#o and must have 0600: only its owner may read it", ErrInvalidKeyset, path, mode)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxKeysetBytes))
	if err != nil {
		return nil, fmt.Errorf("load keyset: %w", err)
	}
	return ParseKeyset(raw)
}

// maxKeysetBytes holds thousands of keys; it bounds the damage of a path that names something else.
const maxKeysetBytes = 1 << 20

// Rotate returns a keyset with a new primary key and all keys of k, which open what they sealed. k stays as it is.
func (k *Keyset) Rotate() (*Keyset, error) {
	manager := keyset.NewManagerFromHandle(k.handle)
	id, err := manager.Add(aead.AES256GCMKeyTemplate())
	if err == nil {
		err = manager.SetPrimary(id)
	}
	if err != nil {
		return nil, fmt.Errorf("rotate keyset %s: %w", k.ID(), err)
	}
	handle, err := manager.Handle()
	if err != nil {
		return nil, fmt.Errorf("rotate keyset %s: %w", k.ID(), err)
	}
	return newKeyset(handle)
}

// MarshalPlain returns the keyset in Tink's JSON form with its keys in the clear. It belongs into a file of mode 0600 and
// nowhere else; wrapping by a key service comes later.
func (k *Keyset) MarshalPlain() ([]byte, error) {
	var b bytes.Buffer
	if err := insecurecleartextkeyset.Write(k.handle, keyset.NewJSONWriter(&b)); err != nil {
		return nil, fmt.Errorf("marshal keyset: %w", err)
	}
	return b.Bytes(), nil
}

// ID names the primary key. It is safe to show.
func (k *Keyset) ID() string { return keyName(k.handle.KeysetInfo().GetPrimaryKeyId()) }

// holds tells whether the keyset has the key that ID named when it was primary, and may use it.
func (k *Keyset) holds(id string) bool {
	for _, key := range k.handle.KeysetInfo().GetKeyInfo() {
		if keyName(key.GetKeyId()) == id {
			return key.GetStatus() == tinkpb.KeyStatusType_ENABLED
		}
	}
	return false
}

func keyName(id uint32) string { return strconv.FormatUint(uint64(id), 10) }
