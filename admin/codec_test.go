package admin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/vault"
)

const (
	secret   = "hunter2-canary"
	uiOrigin = "https://temporal.example.com"
)

// codecAPI is an API with a codec endpoint, and the keys that its payloads are encrypted with.
type codecAPI struct {
	client
	keys  *vault.Keyset
	audit *auditLog
}

// auditLog records, or fails on demand.
type auditLog struct {
	records []job.AuditRecord
	err     error
}

func (l *auditLog) SaveAudit(_ context.Context, r job.AuditRecord) error {
	l.records = append(l.records, r)
	return l.err
}

func newCodecAPI(t *testing.T, change func(*admin.Options)) codecAPI {
	t.Helper()
	keys, err := vault.GenerateKeyset()
	require.NoError(t, err)
	log := &auditLog{}
	c := newAPI(t, &fakes{}, func(o *admin.Options) {
		o.Codec, o.Audit, o.Token, o.PrivilegedToken = vault.NewCodec(keys), log, "ordinary", "privileged"
		o.CodecOrigins = []string{uiOrigin}
		o.Policies = job.Policies{ByType: map[job.Type]job.Policy{
			"email.send": {Redaction: redaction.Policy{Paths: []string{"$.customer.ref"}}},
			"quiet.type": {Redaction: redaction.Policy{Mode: redaction.Withhold}},
		}}
		if change != nil {
			change(o)
		}
	})
	c.header.Set("Authorization", "Bearer ordinary")
	return codecAPI{c, keys, log}
}

// sealed is value as a worker's data converter writes it into the history of a workflow.
func (c codecAPI) sealed(workflowID string, value any) *commonpb.Payload {
	c.t.Helper()
	dc := vault.DataConverter(converter.GetDefaultDataConverter(), vault.NewCodec(c.keys))
	bound := converter.WithDataConverterSerializationContext(dc, converter.WorkflowSerializationContext{WorkflowID: workflowID})
	p, err := bound.ToPayload(value)
	require.NoError(c.t, err)
	require.NotContains(c.t, string(p.GetData()), secret)
	return p
}

func body(t *testing.T, payloads ...*commonpb.Payload) string {
	t.Helper()
	raw, err := protojson.Marshal(&commonpb.Payloads{Payloads: payloads})
	require.NoError(t, err)
	return string(raw)
}

// decoded asks the endpoint and returns what it shows.
func (c codecAPI) decoded(path string, payloads ...*commonpb.Payload) []*commonpb.Payload {
	c.t.Helper()
	status, answer := c.do("POST", path, body(c.t, payloads...))
	require.Equal(c.t, 200, status, answer)
	var shown commonpb.Payloads
	require.NoError(c.t, protojson.Unmarshal([]byte(answer), &shown))
	require.Len(c.t, shown.GetPayloads(), len(payloads))
	return shown.GetPayloads()
}

func plain(encoding, data string) *commonpb.Payload {
	return &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(encoding), "note": []byte(secret)}, Data: []byte(data)}
}

func TestPrivacyDecodeRedacts(t *testing.T) {
	t.Parallel()
	c := newCodecAPI(t, nil)
	payload := map[string]any{"password": secret, "customer": map[string]any{"ref": "ref-" + secret}, "n": 1}
	envelope := map[string]any{"type": "email.send", "key": "a", "schema_version": 1, "payload": payload, "tags": []string{"password=" + secret}}
	for name, test := range map[string]struct {
		payload *commonpb.Payload
		want    string
	}{
		"Envelope": {
			c.sealed("job:email.send:a", envelope),
			`{"type":"email.send","key":"a","schema_version":1,"tags":["password=[redacted:password]"],
				"payload":{"password":"[redacted:password]","customer":{"ref":"[redacted:path]"},"n":1}}`,
		},
		"Assignment": {
			c.sealed("job:email.send:a", map[string]any{"envelope": envelope, "limits": map[string]any{"max_attempts": 3}}),
			`{"envelope":{"type":"email.send","key":"a","schema_version":1,"tags":["password=[redacted:password]"],
				"payload":{"password":"[redacted:password]","customer":{"ref":"[redacted:path]"},"n":1}},"limits":{"max_attempts":3}}`,
		},
		"ResultOfTheReplay": {
			c.sealed("replay:email.send:a", payload),
			`{"password":"[redacted:password]","customer":{"ref":"[redacted:path]"},"n":1}`,
		},
		"OtherTypeOtherPolicy": {
			c.sealed("job:other.type:a", map[string]any{"password": secret, "customer": map[string]any{"ref": "r"}}),
			`{"password":"[redacted:password]","customer":{"ref":"r"}}`,
		},
		"WithholdingPolicy": {c.sealed("job:quiet.type:a", "x"), `{"redrive":"withheld","reason":"policy"}`},
		"OtherWorkflow":     {c.sealed("some-workflow", map[string]any{"api_key": secret}), `{"api_key":"[redacted:api-key]"}`},
		"Bytes":             {c.sealed("job:email.send:a", []byte(secret)), `{"redrive":"withheld","reason":"invalid_json"}`},
		"Plain":             {plain("json/plain", `{"password":"`+secret+`"}`), `{"password":"[redacted:password]"}`},
		"PlainBytes":        {plain("binary/plain", secret), `{"redrive":"withheld","reason":"invalid_json"}`},
		"ForeignCiphertext": {plain("binary/encrypted", secret), `{"redrive":"withheld","reason":"invalid_json"}`},
		"NoEncoding":        {&commonpb.Payload{Data: []byte(secret)}, `{"redrive":"withheld","reason":"invalid_json"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := c.decoded("/codec/decode", test.payload)[0]
			require.JSONEq(t, test.want, string(shown.GetData()))
			require.Equal(t, map[string][]byte{"encoding": []byte("json/plain")}, shown.GetMetadata(), "no metadata of the payload's")
		})
	}
	t.Run("Null", func(t *testing.T) {
		t.Parallel()
		shown := c.decoded("/codec/decode", c.sealed("job:email.send:a", nil))[0]
		require.Equal(t, "binary/null", string(shown.GetMetadata()["encoding"]))
	})
	require.Empty(t, c.audit.records, "a redacted view is no event")
}

func TestPrivacyDecodeWhatDoesNotOpen(t *testing.T) {
	t.Parallel()
	c, stranger := newCodecAPI(t, nil), newCodecAPI(t, nil)
	moved := c.sealed("job:email.send:a", secret)
	moved.Metadata[job.MetadataBinding] = []byte("job:other.type:a")
	for _, view := range []string{"", "?view=full&reason=why"} {
		c.header.Set("Authorization", "Bearer privileged")
		shown := c.decoded("/codec/decode"+view, moved, stranger.sealed("job:email.send:a", secret), c.sealed("job:email.send:a", "fine"))
		require.Contains(t, string(shown[0].GetData()), "it was changed")
		require.Contains(t, string(shown[1].GetData()), "not in this server's keyset")
		require.Equal(t, `"fine"`, string(shown[2].GetData()), "the others of the event are shown")
	}
}

func TestPrivacyEncodeIsNoOracle(t *testing.T) {
	t.Parallel()
	c := newCodecAPI(t, nil)
	given := []*commonpb.Payload{plain("json/plain", `{"actor":"ada"}`), c.sealed("job:email.send:a", "x")}
	answered := c.decoded("/codec/encode", given...)
	for i := range given {
		require.Equal(t, given[i].GetMetadata(), answered[i].GetMetadata())
		require.Equal(t, given[i].GetData(), answered[i].GetData())
	}
}

func TestPrivacyFullView(t *testing.T) {
	t.Parallel()
	one := func(c codecAPI) []*commonpb.Payload {
		return []*commonpb.Payload{
			c.sealed("job:email.send:a", map[string]string{"password": secret}), c.sealed("job:email.send:a", "x"), plain("json/plain", `"p"`),
		}
	}
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		for _, query := range []bool{true, false} {
			c := newCodecAPI(t, nil)
			c.header.Set("Authorization", "Bearer privileged")
			c.header.Set("X-Namespace", "prod")
			path := "/codec/decode?view=full&actor=ada&reason=" + url.QueryEscape("ticket 7")
			if !query {
				path = "/codec/decode"
				c.header.Set("X-Redrive-View", "full")
				c.header.Set("X-Redrive-Reason", "ticket 7")
				c.header.Set("X-Redrive-Actor", "ada")
			}
			shown := c.decoded(path, one(c)...)
			require.JSONEq(t, `{"password":"`+secret+`"}`, string(shown[0].GetData()))
			require.NotContains(t, shown[0].GetMetadata(), job.MetadataDecrypted)
			require.Len(t, c.audit.records, 1)
			record := c.audit.records[0]
			require.WithinDuration(t, time.Now(), record.At, time.Minute)
			require.Equal(t, job.AuditRecord{
				At: record.At, Action: job.AuditViewPayloads, Credential: "privileged_token", Actor: "ada", Reason: "ticket 7",
				Namespace: "prod", Targets: []string{"job:email.send:a", "plain"}, Items: 3, From: "127.0.0.1",
			}, record)
		}
	})
	for name, test := range map[string]struct {
		change func(*admin.Options)
		token  string
		query  string
		audit  error
		status int
		code   string
	}{
		"OrdinaryToken":  {nil, "ordinary", "view=full&reason=why", nil, 403, "not_privileged"},
		"WrongToken":     {nil, "wrong", "view=full&reason=why", nil, 401, "unauthorized"},
		"NoReason":       {nil, "privileged", "view=full", nil, 400, "invalid_request"},
		"BlankReason":    {nil, "privileged", "view=full&reason=%20", nil, 400, "invalid_request"},
		"LongReason":     {nil, "privileged", "view=full&reason=" + strings.Repeat("x", job.MaxReasonBytes+1), nil, 400, "invalid_request"},
		"UnknownView":    {nil, "privileged", "view=all&reason=why", nil, 400, "invalid_view"},
		"AuditFails":     {nil, "privileged", "view=full&reason=why", errors.New("disk full: canary"), 503, "audit_unavailable"},
		"NoAudit":        {func(o *admin.Options) { o.Audit = nil }, "privileged", "view=full&reason=why", nil, 403, "not_privileged"},
		"NoPrivileged":   {func(o *admin.Options) { o.PrivilegedToken = "" }, "", "view=full&reason=why", nil, 401, "unauthorized"},
		"LoopbackLooks":  {func(o *admin.Options) { o.Token, o.PrivilegedToken = "", "" }, "none", "view=full&reason=why", nil, 403, "not_privileged"},
		"LoopbackGuests": {func(o *admin.Options) { o.Token = "" }, "wrong", "view=full&reason=why", nil, 401, "unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCodecAPI(t, test.change)
			c.audit.err = test.audit
			c.header.Set("Authorization", "Bearer "+test.token)
			status, answer := c.do("POST", "/codec/decode?"+test.query, body(t, one(c)...))
			require.Equal(t, test.status, status, answer)
			require.Contains(t, answer, test.code)
			require.NotContains(t, answer, "canary")
		})
	}
	t.Run("WithoutAskingItIsRedacted", func(t *testing.T) {
		t.Parallel()
		c := newCodecAPI(t, nil)
		c.header.Set("Authorization", "Bearer privileged")
		require.JSONEq(t, `{"password":"[redacted:password]"}`, string(c.decoded("/codec/decode", one(c)...)[0].GetData()))
		require.Empty(t, c.audit.records)
	})
}

func TestPrivacyCodecRefuses(t *testing.T) {
	t.Parallel()
	c := newCodecAPI(t, nil)
	many := make([]*commonpb.Payload, 257)
	for i := range many {
		many[i] = &commonpb.Payload{}
	}
	for name, test := range map[string]struct {
		body   string
		status int
	}{
		"NotJSON":      {secret, 400},
		"OtherJSON":    {`[{"password":"` + secret + `"}]`, 400},
		"NotBase64":    {`{"payloads":[{"data":"` + secret + `!"}]}`, 400},
		"TooMany":      {body(t, many...), 413},
		"TooLarge":     {`{"payloads":[{"data":"` + strings.Repeat("A", 9<<20) + `"}]}`, 413},
		"NothingAtAll": {"", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/codec/decode", "/codec/encode"} {
				status, answer := c.do("POST", path, test.body)
				require.Equal(t, test.status, status, answer)
				require.NotContains(t, answer, "canary")
			}
		})
	}
	none := codecAPI{client: newAPI(t, &fakes{}, nil)}
	status, _, answer := none.ask("POST", "/codec/decode", nil)
	require.Equal(t, 404, status, answer, "without a codec there is no endpoint")
}

func TestPrivacyCodecOptionsRefused(t *testing.T) {
	t.Parallel()
	f := &fakes{}
	complete := admin.Options{Store: f, Jobs: f, Requests: f, Temporal: func(context.Context) error { return nil }, Listen: "127.0.0.1:0", Token: "t"}
	for _, origin := range []string{"*", "null", "temporal.example.com", uiOrigin + "/", "https://Temporal.example.com", "ftp://x", ""} {
		o := complete
		o.CodecOrigins = []string{origin}
		_, err := admin.New(o)
		require.ErrorIs(t, err, admin.ErrInvalidOptions, origin)
	}
	same := complete
	same.PrivilegedToken = "t"
	_, err := admin.New(same)
	require.ErrorIs(t, err, admin.ErrInvalidOptions)
	bad := complete
	bad.Policies.Default.Redaction.Paths = []string{"not a path"}
	_, err = admin.New(bad)
	require.ErrorIs(t, err, admin.ErrInvalidOptions)
}

// An encoder that quotes a payload would put it in the UI's console.
func TestPrivacyCodecAnswersAreProtobufJSON(t *testing.T) {
	t.Parallel()
	c := newCodecAPI(t, nil)
	_, answer := c.do("POST", "/codec/decode", fmt.Sprintf(`{"payloads":[{"metadata":{"encoding":%q},"data":%q}],"unknown":1}`,
		base64.StdEncoding.EncodeToString([]byte("json/plain")), base64.StdEncoding.EncodeToString([]byte(`1`))))
	var got struct {
		Payloads []struct {
			Metadata map[string][]byte
			Data     []byte
		}
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &got), answer)
	require.Equal(t, "1", string(got.Payloads[0].Data))
}
