package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// MaxPayloadBytes bounds a payload, as Go's JSON encoder writes it, so that the envelope, and the handler activity's
// input around it, both stay below Temporal's blob limit of 2 MiB (limit.blobSize.error). The other fields have limits
// for the same reason: what does not fit makes the workflow's task fail again and again, and the job hangs.
const (
	MaxPayloadBytes = 2<<20 - 64<<10
	MaxSubjectBytes = 255
	MaxTags         = 32
	MaxTagBytes     = 128
)

// MaxVaultBytes bounds a payload that goes through the vault instead of Temporal's history: it is read into memory whole, by
// every attempt.
const MaxVaultBytes = 16 << 20

// ErrInvalidEnvelope is wrapped by every refusal of an envelope.
var ErrInvalidEnvelope = errors.New("invalid envelope")

// PayloadRef points into the vault. It holds no payload data and is safe to copy anywhere.
type PayloadRef string

// Envelope is the JSON a job is started with. Exactly one of Payload and PayloadRef is set.
type Envelope struct {
	Type          Type            `json:"type"`
	Key           Key             `json:"key"`
	SchemaVersion int             `json:"schema_version"`
	Payload       json.RawMessage `json:"payload,omitempty"`
	PayloadRef    PayloadRef      `json:"payload_ref,omitempty"`
	// Subject is an opaque id of the person the data is about, for erasure; at most MaxSubjectBytes.
	Subject string   `json:"subject,omitempty"`
	Tags    []string `json:"tags,omitempty"` // at most MaxTags of MaxTagBytes each
	// Deadline replaces the policy's deadline for this job. It is absolute, so a delayed start does not move it.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Replay is honoured only in a run that the key's own Replay workflow started.
	Replay *ReplayRun `json:"replay,omitempty"`
}

// ID returns the identity the envelope claims.
func (e Envelope) ID() KeyID { return KeyID{Type: e.Type, Key: e.Key} }

// Validate checks identity, schema version and payload; the error wraps ErrInvalidEnvelope or ErrInvalidKey and never
// quotes payload bytes.
func (e Envelope) Validate() error {
	if err := e.ID().Validate(); err != nil {
		return err
	}
	if e.SchemaVersion < 1 {
		return fmt.Errorf("%w: schema_version is %d, it starts at 1", ErrInvalidEnvelope, e.SchemaVersion)
	}
	hasPayload := len(e.Payload) > 0
	switch {
	case hasPayload && e.PayloadRef != "":
		return fmt.Errorf("%w: both payload and payload_ref are set, one is allowed", ErrInvalidEnvelope)
	case !hasPayload && e.PayloadRef == "":
		return fmt.Errorf("%w: neither payload nor payload_ref is set", ErrInvalidEnvelope)
	case encodedSize(e.Payload) > MaxPayloadBytes:
		return fmt.Errorf("%w: the payload is %d bytes as Go encodes it, at most %d are allowed (send a payload_ref)",
			ErrInvalidEnvelope, encodedSize(e.Payload), MaxPayloadBytes)
	case hasPayload && !json.Valid(e.Payload):
		return fmt.Errorf("%w: the payload is not valid JSON", ErrInvalidEnvelope)
	}
	return e.validateRest()
}

func (e Envelope) validateRest() error {
	switch {
	case len(e.PayloadRef) > MaxNameBytes:
		return fmt.Errorf("%w: the payload_ref is %d bytes, at most %d are allowed", ErrInvalidEnvelope, len(e.PayloadRef), MaxNameBytes)
	case len(e.Subject) > MaxSubjectBytes:
		return fmt.Errorf("%w: the subject is %d bytes, at most %d are allowed", ErrInvalidEnvelope, len(e.Subject), MaxSubjectBytes)
	case len(e.Tags) > MaxTags:
		return fmt.Errorf("%w: %d tags are set, at most %d are allowed", ErrInvalidEnvelope, len(e.Tags), MaxTags)
	}
	for i, tag := range e.Tags {
		if len(tag) > MaxTagBytes {
			return fmt.Errorf("%w: tag %d is %d bytes, at most %d are allowed", ErrInvalidEnvelope, i+1, len(tag), MaxTagBytes)
		}
	}
	return nil
}

// FitsTemporal tells whether the payload is small enough to travel through Temporal; a larger one needs a PayloadRef.
func (e Envelope) FitsTemporal() bool { return encodedSize(e.Payload) <= MaxPayloadBytes }

// encodedSize is what raw takes in the handler activity's input: Go writes <, >, & and the two line separators as six
// bytes each. A payload that only fits as sent would hang its job when the activity is scheduled.
func encodedSize(raw []byte) int {
	size := len(raw)
	for _, escaped := range []string{"<", ">", "&", "\u2028", "\u2029"} {
		size += bytes.Count(raw, []byte(escaped)) * (len(`\u003c`) - len(escaped))
	}
	return size
}

// ParseEnvelope reads what any client started Job with. A missing schema_version is 1; unknown fields are ignored, so
// that an older worker understands a newer client. Errors wrap ErrInvalidEnvelope or ErrInvalidKey.
func ParseEnvelope(raw []byte) (Envelope, error) {
	e := Envelope{SchemaVersion: 1}
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || bytes.Equal(trimmed, []byte("null")) {
		return Envelope{}, fmt.Errorf("%w: no input was given", ErrInvalidEnvelope)
	}
	if trimmed[0] != '{' {
		return Envelope{}, fmt.Errorf("%w: the input is not a JSON object", ErrInvalidEnvelope)
	}
	if err := json.Unmarshal(trimmed, &e); err != nil {
		return Envelope{}, fmt.Errorf("%w: %s", ErrInvalidEnvelope, jsonComplaint(err))
	}
	if bytes.Equal(e.Payload, []byte("null")) && e.PayloadRef != "" {
		e.Payload = nil
	}
	return e, e.Validate()
}

// jsonComplaint describes a decoding error by place and field. The decoder's own text can quote the input.
func jsonComplaint(err error) string {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("malformed JSON at byte %d", syntax.Offset)
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Sprintf("field %q does not have the type %s", mismatch.Field, mismatch.Type)
	case errors.As(err, &mismatch):
		return fmt.Sprintf("the value at byte %d does not have the type %s", mismatch.Offset, mismatch.Type)
	default: // the fields that decode themselves are times
		return "malformed time, RFC 3339 is needed"
	}
}
