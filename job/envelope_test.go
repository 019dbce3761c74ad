package job_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

const secret = "hunter2-Zebra-9931"

func TestParseEnvelope(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		want job.Envelope
	}{
		"OK": {
			`{"type":"email.send","key":"a","schema_version":2,"payload":{"n":1.10}}`,
			job.Envelope{Type: "email.send", Key: "a", SchemaVersion: 2, Payload: json.RawMessage(`{"n":1.10}`)},
		},
		"MissingSchemaVersionIsOne": {
			` {"type":"email.send","key":"a","payload":[]} `,
			job.Envelope{Type: "email.send", Key: "a", SchemaVersion: 1, Payload: json.RawMessage(`[]`)},
		},
		"UnknownFieldsAreIgnored": {
			`{"type":"email.send","key":"a","payload":1,"colour":"blue"}`,
			job.Envelope{Type: "email.send", Key: "a", SchemaVersion: 1, Payload: json.RawMessage(`1`)},
		},
		"Reference": {
			`{"type":"email.send","key":"a","payload":null,"payload_ref":"pl_a"}`,
			job.Envelope{Type: "email.send", Key: "a", SchemaVersion: 1, PayloadRef: "pl_a"},
		},
		"NullIsAPayload": {
			`{"type":"email.send","key":"a","payload":null}`,
			job.Envelope{Type: "email.send", Key: "a", SchemaVersion: 1, Payload: json.RawMessage(`null`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := job.ParseEnvelope([]byte(c.raw))
			require.NoError(t, err)
			require.Equal(t, c.want, parsed)
			require.Equal(t, job.KeyID{Type: "email.send", Key: "a"}, parsed.ID())
		})
	}
}

func TestParseEnvelopeRefuses(t *testing.T) {
	t.Parallel()
	const head = `{"type":"email.send","key":"a",`
	for name, c := range map[string]struct{ raw, says string }{
		"Nothing":           {"", "no input"},
		"WhiteSpace":        {" \n", "no input"},
		"Null":              {"null", "no input"},
		"Text":              {`"` + secret + `"`, "not a JSON object"},
		"List":              {`["` + secret + `"]`, "not a JSON object"},
		"NotJSON":           {`{"payload":"` + secret + `"`, "malformed JSON at byte 31"},
		"WrongType":         {head + `"schema_version":"` + secret + `","payload":1}`, `field "schema_version" does not have the type int`},
		"NestedWrongType":   {head + `"payload":1,"replay":{"rule":{"only_version":["` + secret + `"]}}}`, `field "replay.rule.only_version"`},
		"FractionalVersion": {head + `"schema_version":1.5,"payload":1}`, `field "schema_version" does not have the type int`},
		"BadDeadline":       {head + `"payload":1,"deadline":"` + secret + `"}`, "RFC 3339"},
		"NumericDeadline":   {head + `"payload":1,"deadline":99319931}`, "RFC 3339"},
		"VersionZero":       {head + `"schema_version":0,"payload":1}`, "schema_version is 0, it starts at 1"},
		"NegativeVersion":   {head + `"schema_version":-1,"payload":1}`, "schema_version is -1"},
		"Both":              {head + `"payload":"` + secret + `","payload_ref":"pl_a"}`, "both payload and payload_ref"},
		"Neither":           {head + `"tags":["` + secret + `"]}`, "neither payload nor payload_ref"},
		"TooLarge":          {head + `"payload":"` + strings.Repeat("x", job.MaxPayloadBytes) + `"}`, "at most"},
		"TooDeep":           {head + `"payload":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "malformed JSON"},
		"Trailing":          {head + `"payload":1} ` + secret, "malformed JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := job.ParseEnvelope([]byte(c.raw))
			require.ErrorIs(t, err, job.ErrInvalidEnvelope)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "Zebra")
			require.NotContains(t, err.Error(), "9931")
		})
	}
	t.Run("BadIdentity", func(t *testing.T) {
		t.Parallel()
		_, err := job.ParseEnvelope([]byte(`{"type":"email.send","key":"a/b","payload":1}`))
		require.ErrorIs(t, err, job.ErrInvalidKey)
	})
}

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

// Whatever the bytes are: no panic, a class of error that callers know, and no word of the input in it.
func FuzzParseEnvelope(f *testing.F) {
	f.Add([]byte(`{"type":"email.send","key":"a","payload":{"password":"hunter2-Zebra-9931"}}`))
	f.Add([]byte(`{"type":"email.send","key":"a","payload":{"password":"hunter2-Zebra-9931"`))
	f.Add([]byte(`{"type":"email.send","key":"a","schema_version":"hunter2-Zebra-9931"}`))
	f.Add([]byte(`{"type":1,"key":{"hunter2-Zebra-9931":1}}`))
	f.Add([]byte("\xff\xfe{"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		// A word of letters that our own messages do not have, put wherever the input has a string.
		marked := []byte(strings.ReplaceAll(string(raw), "a", secret))
		for _, input := range [][]byte{raw, marked} {
			e, err := job.ParseEnvelope(input)
			if err == nil {
				require.NoError(t, e.Validate())
				require.True(t, len(e.Payload) == 0 || json.Valid(e.Payload))
				continue
			}
			knownError(t, err)
			require.NotContains(t, err.Error(), "Zebra")
			require.LessOrEqual(t, len(err.Error()), 512)
		}
	})
}

func knownError(t *testing.T, err error) {
	t.Helper()
	for _, known := range []error{job.ErrInvalidEnvelope, job.ErrInvalidKey} {
		if strings.HasPrefix(err.Error(), known.Error()) {
			require.ErrorIs(t, err, known)
			return
		}
	}
	require.Fail(t, "an error of no known kind", err.Error())
}
