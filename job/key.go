package job

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of an identity, in bytes. Type and key become part of workflow IDs, and the visibility store's columns hold
// 255 bytes, so both together and the longest prefix must fit.
const (
	MaxTypeBytes  = 64
	MaxKeyIDBytes = 240
)

// ErrInvalidKey is wrapped by every refusal of a type or key.
var ErrInvalidKey = errors.New("invalid job identity")

// Type is the kind of a job, such as "email.send": 1 to 64 bytes of a-z, 0-9, dot, underscore and hyphen.
type Type string

// Key is the stable idempotency identity of a job within its type. It is readable in workflow IDs and logs, so it
// must hold no secret and no personal data.
type Key string

// KeyID names one job for ever: replays, edits and restarts keep it.
type KeyID struct {
	Type Type `json:"type"`
	Key  Key  `json:"key"`
}

// String returns "type:key". It is unambiguous, since a type holds no colon.
func (id KeyID) String() string { return string(id.Type) + ":" + string(id.Key) }

// Validate checks both parts and their joint length; the error wraps ErrInvalidKey and names the rule.
func (id KeyID) Validate() error {
	if err := id.Type.Validate(); err != nil {
		return err
	}
	if err := id.Key.Validate(); err != nil {
		return err
	}
	if n := len(id.Type) + len(id.Key); n > MaxKeyIDBytes {
		return fmt.Errorf("%w: type and key are %d bytes together, at most %d are allowed", ErrInvalidKey, n, MaxKeyIDBytes)
	}
	return nil
}

// Validate refuses a type outside [a-z0-9._-]{1,64}; the error wraps ErrInvalidKey and names the character.
func (t Type) Validate() error {
	if t == "" {
		return fmt.Errorf("%w: the type is empty", ErrInvalidKey)
	}
	if len(t) > MaxTypeBytes {
		return fmt.Errorf("%w: the type is %d bytes, at most %d are allowed", ErrInvalidKey, len(t), MaxTypeBytes)
	}
	for i, r := range string(t) {
		lower := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !lower && !strings.ContainsRune("._-", r) {
			return fmt.Errorf("%w: the type has %q at byte %d, allowed are a-z 0-9 . _ -", ErrInvalidKey, r, i)
		}
	}
	if t == "store" || strings.HasSuffix(string(t), ".control") {
		return fmt.Errorf("%w: the type %q would share a task queue with redrive's own; \"store\" and names that end in \".control\" are reserved",
			ErrInvalidKey, string(t))
	}
	return nil
}

// Validate refuses an empty key and one with a control character, invalid UTF-8 or one of / ? # %, which Temporal's
// HTTP API cannot address; the error wraps ErrInvalidKey and names the character.
func (k Key) Validate() error {
	if k == "" {
		return fmt.Errorf("%w: the key is empty", ErrInvalidKey)
	}
	if !utf8.ValidString(string(k)) {
		return fmt.Errorf("%w: the key is not valid UTF-8", ErrInvalidKey)
	}
	for i, r := range string(k) {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("%w: the key has the unprintable character %U at byte %d", ErrInvalidKey, r, i)
		}
		if strings.ContainsRune("/?#%", r) {
			return fmt.Errorf("%w: the key has %q at byte %d, which no key may hold (nor / ? # %%)", ErrInvalidKey, r, i)
		}
	}
	return nil
}
