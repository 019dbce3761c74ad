package starter

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redrivehq/redrive/job"
)

// divert replaces a payload that goes through the vault by a new reference. What was put there for a start that then failed
// stays until it is purged: nobody knows the reference.
func (c *Client) divert(e job.Envelope, o EnqueueOptions) (job.Envelope, error) {
	if len(e.Payload) == 0 || e.PayloadRef != "" {
		return e, nil // Validate says what it thinks of both
	}
	wanted := o.Vault || c.options.Sensitive != nil && c.options.Sensitive(e.Type)
	switch {
	case c.options.Vault == nil && wanted:
		return e, fmt.Errorf("%w: the payload of job type %s goes through the vault, and this client has none", ErrInvalidOptions, e.Type)
	case c.options.Vault == nil || !wanted && e.FitsTemporal():
		return e, nil
	case len(e.Payload) > job.MaxVaultBytes:
		return e, fmt.Errorf("%w: the payload is %d bytes, the vault takes at most %d", job.ErrInvalidEnvelope, len(e.Payload), job.MaxVaultBytes)
	case !json.Valid(e.Payload):
		return e, fmt.Errorf("%w: the payload is not valid JSON", job.ErrInvalidEnvelope)
	}
	e.Payload, e.PayloadRef = nil, newPayloadRef()
	return e, nil
}

// newPayloadRef makes a reference up. One that is derived from the key would find what an earlier job of the key left; one
// that is derived from the payload would tell whoever can guess it.
func newPayloadRef() job.PayloadRef {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it crashes the process instead (crypto/rand)
	return job.PayloadRef("pl_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:])))
}

// sameInput compares two envelopes of a key. When one payload is in the vault, it is looked at there; what is gone
// contradicts nothing.
func (c *Client) sameInput(ctx context.Context, known, given job.Envelope) (bool, error) {
	if known.SchemaVersion != given.SchemaVersion {
		return false, nil
	}
	if known.PayloadRef == given.PayloadRef {
		return sameJSON(known.Payload, given.Payload), nil
	}
	if known.PayloadRef == "" || len(given.Payload) == 0 || c.options.Vault == nil {
		return false, nil
	}
	payload, err := c.options.Vault.Open(ctx, known.PayloadRef, known.ID())
	if errors.Is(err, job.ErrPayloadGone) {
		return true, nil
	}
	return sameJSON(payload, given.Payload), err
}
