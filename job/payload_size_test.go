package job_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// Go's JSON encoder writes <, >, & and the two line separators as six bytes each. The envelope is encoded that way when
// it goes on to the handler: a payload that fits as sent must fit then, or the job hangs (workflow task failure
// PayloadsTooLarge, over and over).
func TestPayloadIsMeasuredAsItTravels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		unit string
		size int // as encoded
	}{
		"Plain": {"x", 1}, "Less": {"<", 6}, "Greater": {">", 6}, "And": {"&", 6},
		"LineSeparator": {"\u2028", 6}, "ParagraphSeparator": {"\u2029", 6}, "OtherText": {"é", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const quotes = 2
			fits := (job.MaxPayloadBytes - quotes) / c.size
			e := job.Envelope{Type: "email.send", Key: "a", SchemaVersion: 1, Payload: json.RawMessage(`"` + strings.Repeat(c.unit, fits) + `"`)}
			require.NoError(t, e.Validate())
			encoded, err := json.Marshal(job.Assignment{Envelope: e})
			require.NoError(t, err)
			require.Less(t, len(encoded), 2<<20, "Temporal's limit.blobSize.error")
			e.Payload = json.RawMessage(`"` + strings.Repeat(c.unit, fits+1) + `"`)
			require.ErrorIs(t, e.Validate(), job.ErrInvalidEnvelope)
		})
	}
}

func TestOtherFieldsAreBounded(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("<", n) }
	full := job.Envelope{
		Type: job.Type(strings.Repeat("t", 64)), Key: job.Key(strings.Repeat("<", 176)), SchemaVersion: 1,
		Payload: json.RawMessage(`"` + strings.Repeat("x", job.MaxPayloadBytes-2) + `"`),
		Subject: long(job.MaxSubjectBytes), Tags: make([]string, job.MaxTags),
	}
	for i := range full.Tags {
		full.Tags[i] = long(job.MaxTagBytes)
	}
	require.NoError(t, full.Validate())
	encoded, err := json.Marshal(job.Assignment{Envelope: full})
	require.NoError(t, err)
	require.Less(t, len(encoded), 2<<20, "Temporal's limit.blobSize.error, with every field at its longest")

	for name, c := range map[string]struct {
		change func(*job.Envelope)
		says   string
	}{
		"Subject":    {func(e *job.Envelope) { e.Subject += "x" }, "the subject is 256 bytes, at most 255"},
		"Tags":       {func(e *job.Envelope) { e.Tags = make([]string, job.MaxTags+1) }, "33 tags are set, at most 32"},
		"Tag":        {func(e *job.Envelope) { e.Tags = []string{"a", long(129)} }, "tag 2 is 129 bytes, at most 128"},
		"PayloadRef": {func(e *job.Envelope) { e.Payload, e.PayloadRef = nil, job.PayloadRef(long(129)) }, "payload_ref is 129 bytes, at most 128"},
	} {
		t.Run(name+"TooLong", func(t *testing.T) {
			t.Parallel()
			e := full
			c.change(&e)
			err := e.Validate()
			require.ErrorIs(t, err, job.ErrInvalidEnvelope)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "<")
		})
	}
}
