package redaction

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// HMACKey is a key of [OpHMAC]. It prints as its id only.
type HMACKey struct {
	// ID is what stands in the placeholder: lower-case letters and digits, at most 8 bytes.
	ID string
	// Secret is at least 32 bytes.
	Secret []byte
}

// String returns the id.
func (k HMACKey) String() string { return "hmac key " + k.ID }

// GoString returns the id.
func (k HMACKey) GoString() string { return k.String() }

func (k HMACKey) validate() error {
	if !isRuleName(k.ID) || len(k.ID) > 8 || strings.ContainsAny(k.ID, "-_") {
		return fmt.Errorf("redaction policy: hmac key id %q, allowed are lower-case letters and digits, at most 8", k.ID)
	}
	if len(k.Secret) < 32 {
		return fmt.Errorf("redaction policy: hmac key %s has %d bytes, allowed are 32 or more", k.ID, len(k.Secret))
	}
	return nil
}

// ParseHMACKeys reads id:base64 pairs with commas between them, the key that writes first. An error repeats nothing of a
// secret.
func ParseHMACKeys(text string) ([]HMACKey, error) {
	var keys []HMACKey
	for i, pair := range strings.Split(text, ",") {
		id, encoded, found := strings.Cut(strings.TrimSpace(pair), ":")
		if !found {
			return nil, fmt.Errorf("key %d is not written as id:base64", i+1)
		}
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("key %d is not standard base64 with padding", i+1)
		}
		key := HMACKey{ID: id, Secret: secret}
		if err := key.validate(); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "redaction policy: "))
		}
		keys = append(keys, key)
	}
	return keys, nil
}
