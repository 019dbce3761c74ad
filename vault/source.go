package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/tink-crypto/tink-go/v2/core/registry"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Source says where a keyset is kept.
type Source struct {
	// File holds the keyset in Tink's JSON form; only its owner may have access to it.
	File string
	// JSON is the keyset itself, from a secret manager; it wins over File.
	JSON string
	// KMS is the URI of the key in a key management service that the keyset is encrypted with, such as
	// gcp-kms://projects/…; a client for it must be registered with Tink (registry.RegisterKMSClient). The service is asked
	// when a keyset is loaded or written, and not for each payload. Empty: the keyset is kept in the clear.
	KMS string
}

// Load returns the keyset. A source that holds none, or one that cannot be used, wraps ErrInvalidKeyset; an error of the key
// service wraps ErrKeyService.
func (s Source) Load() (*Keyset, error) {
	content := []byte(s.JSON)
	if s.JSON == "" {
		var err error
		if content, err = readKeysetFile(s.File); err != nil {
			return nil, err
		}
	}
	if s.KMS == "" {
		return ParseKeyset(content)
	}
	master, err := s.master()
	if err != nil {
		return nil, err
	}
	handle, err := keyset.Read(keyset.NewJSONReader(bytes.NewReader(content)), master)
	switch {
	case master.err != nil:
		return nil, fmt.Errorf("load keyset: %w: %s does not answer: %w", ErrKeyService, s.KMS, master.err)
	case err != nil:
		return nil, fmt.Errorf("%w: it is not a Tink keyset in JSON that %s encrypted", ErrInvalidKeyset, s.KMS)
	}
	return newKeyset(handle)
}

// Marshal returns keys as they are kept: encrypted by the key service if the source has one, else in the clear.
func (s Source) Marshal(keys *Keyset) ([]byte, error) {
	if s.KMS == "" {
		return keys.MarshalPlain()
	}
	master, err := s.master()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := keys.handle.Write(keyset.NewJSONWriter(&b), master); err != nil {
		return nil, fmt.Errorf("encrypt keyset: %w: %s does not answer: %w", ErrKeyService, s.KMS, err)
	}
	return b.Bytes(), nil
}

// ErrKeyService is wrapped when a key management service has no client, or does not answer.
var ErrKeyService = errors.New("key service unavailable")

func (s Source) master() (*serviceKey, error) {
	client, err := registry.GetKMSClient(s.KMS)
	if err != nil {
		return nil, fmt.Errorf("%w: no client for %s is registered in this program", ErrKeyService, s.KMS)
	}
	key, err := client.GetAEAD(s.KMS)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrKeyService, s.KMS, err)
	}
	return &serviceKey{AEAD: key}, nil
}

// serviceKey remembers the service's error, which Tink would drop.
type serviceKey struct {
	tink.AEAD
	err error
}

// Decrypt implements tink.AEAD.
func (k *serviceKey) Decrypt(ciphertext, associated []byte) (plaintext []byte, err error) {
	plaintext, k.err = k.AEAD.Decrypt(ciphertext, associated)
	return plaintext, k.err
}

// LoadKeyset reads a keyset file that is kept in the clear. A file that group or others have any access to is refused, since
// its keys open every payload; the error names its mode and the wanted one. Errors about the file or its content wrap
// ErrInvalidKeyset.
func LoadKeyset(path string) (*Keyset, error) { return Source{File: path}.Load() }

func readKeysetFile(path string) ([]byte, error) {
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
	return raw, nil
}

// maxKeysetBytes holds thousands of keys; it bounds the damage of a path that names something else.
const maxKeysetBytes = 1 << 20
