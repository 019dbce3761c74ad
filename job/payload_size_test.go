package job_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// Go's JSON encoder writes <, >, & and the two line separators as six bytes each. The envelope is encoded that way when
// it goes on to the handler: a payload that fits as sent must fit then, or the server ends the workflow for it.
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
