package vault

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
	"google.golang.org/protobuf/proto"
)

// ErrInvalidKeyset is wrapped when a keyset cannot be used; the text never holds key material.
var ErrInvalidKeyset = errors.New("invalid keyset")

// Keyset seals with its primary key and opens with any of its enabled keys. It is safe for concurrent use.
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

// Destroy returns a keyset in which the named key is marked as destroyed and its material is gone: what it sealed is gone
// too, for whoever holds this keyset, and every reader knows that it is for good. k stays as it is. The primary key and one
// that k does not have are refused.
func (k *Keyset) Destroy(id string) (*Keyset, error) {
	if id == k.ID() {
		return nil, fmt.Errorf("%w: key %s is the primary; rotate first", ErrInvalidKeyset, id)
	}
	if k.status(id) == KeyUnknown {
		return nil, fmt.Errorf("%w: it has no key %q", ErrInvalidKeyset, id)
	}
	// Tink wants a key in every place, so a fresh one that never sealed anything takes this one's.
	unused, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("destroy key %s: %w", id, err)
	}
	material := insecurecleartextkeyset.KeysetMaterial(k.handle)
	for _, key := range material.GetKey() {
		if keyName(key.GetKeyId()) == id {
			key.KeyData = insecurecleartextkeyset.KeysetMaterial(unused).GetKey()[0].GetKeyData()
			key.OutputPrefixType, key.Status = tinkpb.OutputPrefixType_TINK, tinkpb.KeyStatusType_DESTROYED
		}
	}
	raw, err := proto.Marshal(material)
	if err != nil {
		return nil, fmt.Errorf("destroy key %s: %w", id, err)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewBinaryReader(bytes.NewReader(raw)))
	if err != nil {
		return nil, fmt.Errorf("destroy key %s: %w", id, err)
	}
	return newKeyset(handle)
}

// MarshalPlain returns the keyset in Tink's JSON form with its keys in the clear. It belongs into a file of mode 0600 or a
// secret manager, and nowhere else.
func (k *Keyset) MarshalPlain() ([]byte, error) {
	var b bytes.Buffer
	if err := insecurecleartextkeyset.Write(k.handle, keyset.NewJSONWriter(&b)); err != nil {
		return nil, fmt.Errorf("marshal keyset: %w", err)
	}
	return b.Bytes(), nil
}

// Key describes one key of a keyset. It is safe to show.
type Key struct {
	ID      string    `json:"id"`
	Primary bool      `json:"primary"`
	Status  KeyStatus `json:"status"`
}

// KeyStatus is what a key may be used for.
type KeyStatus string

// The states of a key.
const (
	KeyEnabled   KeyStatus = "enabled"
	KeyDisabled  KeyStatus = "disabled"  // opens nothing, until it is enabled again
	KeyDestroyed KeyStatus = "destroyed" // what it sealed is gone
	KeyUnknown   KeyStatus = "unknown"   // the keyset does not have it; another one may
)

// Keys lists the keys, oldest first.
func (k *Keyset) Keys() []Key {
	info := k.handle.KeysetInfo()
	keys := make([]Key, 0, len(info.GetKeyInfo()))
	for _, key := range info.GetKeyInfo() {
		keys = append(keys, Key{
			ID: keyName(key.GetKeyId()), Primary: key.GetKeyId() == info.GetPrimaryKeyId(), Status: keyStatus(key.GetStatus()),
		})
	}
	return keys
}

func keyStatus(s tinkpb.KeyStatusType) KeyStatus {
	switch s {
	case tinkpb.KeyStatusType_ENABLED:
		return KeyEnabled
	case tinkpb.KeyStatusType_DISABLED:
		return KeyDisabled
	case tinkpb.KeyStatusType_DESTROYED:
		return KeyDestroyed
	default:
		return KeyUnknown
	}
}

// ID names the primary key. It is safe to show.
func (k *Keyset) ID() string { return keyName(k.handle.KeysetInfo().GetPrimaryKeyId()) }

func (k *Keyset) status(id string) KeyStatus {
	for _, key := range k.Keys() {
		if key.ID == id {
			return key.Status
		}
	}
	return KeyUnknown
}

// open decrypts what seal encrypted with the key that id names. The error says whether that may heal: it wraps
// ErrUnknownKey, or ErrKeyDestroyed or ErrForged, which are job.ErrPayloadGone.
func (k *Keyset) open(ciphertext, associated []byte, id string) ([]byte, error) {
	plaintext, err := k.aead.Decrypt(ciphertext, associated)
	if err == nil {
		return plaintext, nil
	}
	switch k.status(id) {
	case KeyEnabled:
		return nil, ErrForged
	case KeyDestroyed:
		return nil, fmt.Errorf("%w: it was sealed with key %s", ErrKeyDestroyed, id)
	default:
		return nil, fmt.Errorf("%w: it was sealed with key %q, the keyset's primary is %s", ErrUnknownKey, id, k.ID())
	}
}

// seal encrypts with the primary key. The associated data is needed to open it again.
func (k *Keyset) seal(plaintext, associated []byte) ([]byte, error) {
	return k.aead.Encrypt(plaintext, associated)
}

func keyName(id uint32) string { return strconv.FormatUint(uint64(id), 10) }
