package job_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// secret is planted in inputs and searched for in errors. No type or key can hold it, since both refuse its characters.
const secret = "S3CRET/#PLANTED"

func TestParseEnvelopeAccepts(t *testing.T) {
	t.Parallel()
	base := job.Envelope{Type: "email.send", Key: "k", SchemaVersion: 1, Payload: []byte(`{"to":1}`)}
	versioned, referenced, null := base, base, base
	versioned.SchemaVersion = 7
	referenced.Payload, referenced.PayloadRef = nil, "pl_x"
	null.Payload = []byte("null")
	for _, c := range []struct {
		name, raw string
		want      job.Envelope
	}{
		{"MissingSchemaVersionAsOne", `{"type":"email.send","key":"k","payload":{"to":1}}`, base},
		{"NullSchemaVersionAsOne", `{"type":"email.send","key":"k","schema_version":null,"payload":{"to":1}}`, base},
		{"SchemaVersion", `{"type":"email.send","key":"k","schema_version":7,"payload":{"to":1}}`, versioned},
		{"NullPayloadRef", `{"type":"email.send","key":"k","payload":{"to":1},"payload_ref":null}`, base},
		{"PayloadRef", `{"type":"email.send","key":"k","payload_ref":"pl_x"}`, referenced},
		{"NullPayloadBesideRef", `{"type":"email.send","key":"k","payload":null,"payload_ref":"pl_x"}`, referenced},
		{"NullPayload", `{"type":"email.send","key":"k","payload":null}`, null},
		{"UnknownFields", `{"type":"email.send","key":"k","payload":{"to":1},"trace":{"id":[1]},"x":null}`, base},
		{"SpaceAround", " \n{\"type\":\"email.send\",\"key\":\"k\",\"payload\":{\"to\":1}}\t ", base},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := job.ParseEnvelope([]byte(c.raw))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	t.Run("LargestPayload", func(t *testing.T) {
		t.Parallel()
		_, err := job.ParseEnvelope(envelopeOfSize(job.MaxPayloadBytes))
		require.NoError(t, err)
	})
}

// envelopeOfSize returns an envelope whose payload, a string with the secret in it, has n bytes.
func envelopeOfSize(n int) []byte {
	payload := `"` + secret + strings.Repeat("x", n-len(secret)-2) + `"`
	return []byte(`{"type":"t","key":"k","payload":` + payload + `}`)
}

func TestParseEnvelopeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw string
		kind      error
		says      string
	}{
		{"Nothing", "", job.ErrInvalidEnvelope, "no input"},
		{"Spaces", " \n", job.ErrInvalidEnvelope, "no input"},
		{"Null", "null", job.ErrInvalidEnvelope, "no input"},
		{"Array", `["` + secret + `"]`, job.ErrInvalidEnvelope, "not a JSON object"},
		{"String", `"` + secret + `"`, job.ErrInvalidEnvelope, "not a JSON object"},
		{"Truncated", `{"payload":"` + secret, job.ErrInvalidEnvelope, "malformed JSON at byte"},
		{"Trailing", `{"type":"t","key":"k","payload":1} ` + secret, job.ErrInvalidEnvelope, "malformed JSON at byte"},
		{"WrongFieldType", `{"type":"t","key":"k","schema_version":"` + secret + `"}`, job.ErrInvalidEnvelope, `"schema_version"`},
		{"FractionalVersion", `{"type":"t","key":"k","schema_version":1.5}`, job.ErrInvalidEnvelope, `"schema_version"`},
		{"BadDeadline", `{"type":"t","key":"k","payload":1,"deadline":"` + secret + `"}`, job.ErrInvalidEnvelope, "RFC 3339"},
		{"NumericDeadline", `{"type":"t","key":"k","payload":1,"deadline":99319931}`, job.ErrInvalidEnvelope, "RFC 3339"},
		{"TooDeep", `{"type":"t","key":"k","payload":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, job.ErrInvalidEnvelope, "malformed JSON"},
		{"NestedFieldType", `{"replay":{"rule":{"not_version":["` + secret + `",{}]}}}`, job.ErrInvalidEnvelope, "not_version"},
		{"VersionZero", `{"type":"t","key":"k","schema_version":0,"payload":"` + secret + `"}`, job.ErrInvalidEnvelope, "schema_version is 0"},
		{"Both", `{"type":"t","key":"k","payload":"` + secret + `","payload_ref":"pl_x"}`, job.ErrInvalidEnvelope, "both"},
		{"Neither", `{"type":"t","key":"k"}`, job.ErrInvalidEnvelope, "neither"},
		{"EmptyRef", `{"type":"t","key":"k","payload_ref":""}`, job.ErrInvalidEnvelope, "neither"},
		{"TooLarge", string(envelopeOfSize(job.MaxPayloadBytes + 1)), job.ErrInvalidEnvelope, "at most 2031616"},
		{"NoType", `{"key":"k","payload":"` + secret + `"}`, job.ErrInvalidKey, "type is empty"},
		{"NoKey", `{"type":"t","payload":"` + secret + `"}`, job.ErrInvalidKey, "key is empty"},
		{"SecretAsKey", `{"type":"t","key":"` + secret + `","payload":1}`, job.ErrInvalidKey, "'/' at byte 6"},
		{"SecretAsType", `{"type":"` + secret + `","key":"k","payload":1}`, job.ErrInvalidKey, "'S' at byte 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := job.ParseEnvelope([]byte(c.raw))
			requireRefusal(t, err, c.kind, c.says)
			require.NotContains(t, err.Error(), secret)
		})
	}
}

func TestEnvelopeWithBrokenPayloadIsRefused(t *testing.T) {
	t.Parallel()
	err := job.Envelope{Type: "t", Key: "k", SchemaVersion: 1, Payload: []byte("{" + secret)}.Validate()
	requireRefusal(t, err, job.ErrInvalidEnvelope, "not valid JSON")
	require.NotContains(t, err.Error(), secret)
}

func FuzzParseEnvelope(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", "\xff", `{"type":"t","key":"k","payload":"` + secret + `"}`,
		`{"type":"` + secret + `"}`, `{"type":"t","key":"` + secret + `"}`, `{"` + secret + `":`,
		`{"payload":` + secret + `}`, `{"schema_version":"` + secret + `"}`, `{"schema_version":1e999}`,
		`{"deadline":"` + secret + `"}`, `{"tags":["` + secret + `",1]}`, `{"replay":{"number":"` + secret + `"}}`,
		`{"replay":{"` + secret + `":{}},"subject":{"` + secret + `":1}}`, `{"payload":"\ud800"}`,
		strings.Repeat(`{"payload":`, 20_000), strings.Repeat("[", 20_000),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := job.ParseEnvelope(raw)
		if err != nil {
			require.NotContains(t, err.Error(), secret)
			require.LessOrEqual(t, len(err.Error()), 512)
			require.True(t, errors.Is(err, job.ErrInvalidEnvelope) || errors.Is(err, job.ErrInvalidKey), "%v", err)
			return
		}
		require.NoError(t, e.Validate())
		require.NotEqual(t, len(e.Payload) > 0, e.PayloadRef != "", "exactly one of payload and payload_ref")
	})
}
