package job_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestParseRequestAccepts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw string
		kind      job.RequestKind
		want      job.Request
	}{
		{"Replay", `{"actor":"ada","reason":"fixed"}`, job.RequestReplay, job.Request{Actor: "ada", Reason: "fixed"}},
		{
			"FullReplay", `{"request_id":"r1","actor":"ada","reason":"fixed","defect":"d","fixed_version":"v2","force":true}`,
			job.RequestReplay,
			job.Request{RequestID: "r1", Actor: "ada", Reason: "fixed", Defect: "d", Fixed: "v2", Force: true},
		},
		{"Discard", `{"actor":"ada","reason":"gone"}`, job.RequestDiscard, job.Request{Actor: "ada", Reason: "gone"}},
		{"AnnotateWithoutReason", `{"actor":"ada","text":"seen"}`, job.RequestAnnotate, job.Request{Actor: "ada", Text: "seen"}},
		{
			"Reconcile", `{"actor":"ada","reason":"r","effect":"charge","happened":true,"result":{"id":"ch_81"}}`,
			job.RequestReconcile,
			job.Request{Actor: "ada", Reason: "r", Effect: "charge", Happened: new(true), Result: json.RawMessage(`{"id":"ch_81"}`)},
		},
		{
			"ReconcileFrees", `{"actor":"ada","reason":"r","effect":"mail.7","happened":false}`, job.RequestReconcile,
			job.Request{Actor: "ada", Reason: "r", Effect: "mail.7", Happened: new(false)},
		},
		{"UnknownFields", `{"actor":"ada","reason":"r","x":[1]}`, job.RequestReplay, job.Request{Actor: "ada", Reason: "r"}},
		{
			"LongestActor", `{"actor":"` + strings.Repeat("a", job.MaxActorBytes) + `","reason":"r"}`,
			job.RequestReplay,
			job.Request{Actor: strings.Repeat("a", job.MaxActorBytes), Reason: "r"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := job.ParseRequest(c.kind, []byte(c.raw))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestParseRequestRefuses(t *testing.T) {
	t.Parallel()
	long := func(field string, n int) string {
		return `{"actor":"ada","reason":"r","text":"t","` + field + `":"` + secret + strings.Repeat("é", n/2) + `"}`
	}
	reconcile := func(fields string) string { return `{"actor":"ada","reason":"r",` + fields + `}` }
	for _, c := range []struct {
		name, raw string
		kind      job.RequestKind
		says      string
	}{
		{"Nothing", "", job.RequestReplay, "without input"},
		{"NotJSON", secret, job.RequestReplay, "malformed JSON at byte 1"},
		{"Null", "null", job.RequestReplay, `needs "actor"`},
		{"Text", `"` + secret + `"`, job.RequestDiscard, "discard: "},
		{"WrongFieldType", `{"actor":"ada","reason":"r","force":"` + secret + `"}`, job.RequestReplay, `"force"`},
		{"NoActor", `{"reason":"` + secret + `"}`, job.RequestReplay, `replay needs "actor"`},
		{"BlankActor", `{"actor":" \n","reason":"` + secret + `"}`, job.RequestReplay, `replay needs "actor"`},
		{"NoReason", `{"actor":"` + secret + `"}`, job.RequestDiscard, `discard needs "reason"`},
		{"NoText", `{"actor":"` + secret + `","reason":"r"}`, job.RequestAnnotate, `annotate needs "text"`},
		{"NoEffect", `{"actor":"ada","reason":"` + secret + `","happened":true}`, job.RequestReconcile, `needs "effect": invalid effect: the name is 0 bytes`},
		{"EffectName", reconcile(`"effect":"Charge ` + secret + `","happened":true`), job.RequestReconcile, "allowed are a-z 0-9 . _ -"},
		{"LongEffect", long("effect", job.MaxEffectNameBytes), job.RequestReconcile, `needs "effect"`},
		{"NoWord", reconcile(`"effect":"charge"`), job.RequestReconcile, `needs "happened", true or false`},
		{"NullWord", reconcile(`"effect":"charge","happened":null`), job.RequestReconcile, `needs "happened", true or false`},
		{"WordIsText", reconcile(`"effect":"charge","happened":"` + secret + `"`), job.RequestReconcile, `"happened"`},
		{"UnfilledCommand", reconcile(`"effect":"charge","happened":TRUE_OR_FALSE`), job.RequestReconcile, "malformed JSON"},
		{"ResultOfNothing", reconcile(`"effect":"charge","happened":false,"result":"` + secret + `"`), job.RequestReconcile, `"happened" is false`},
		{
			"LongResult", reconcile(`"effect":"charge","happened":true,"result":"` + secret + strings.Repeat("x", job.MaxEffectResultBytes) + `"`),
			job.RequestReconcile, "at most 65536 are stored",
		},
		{"LongRequestID", long("request_id", job.MaxNameBytes), job.RequestReplay, `"request_id" is`},
		{"LongActor", long("actor", job.MaxActorBytes), job.RequestReplay, `"actor" is`},
		{"LongReason", long("reason", job.MaxReasonBytes), job.RequestReplay, `"reason" is`},
		{"LongText", long("text", job.MaxReasonBytes), job.RequestAnnotate, `"text" is`},
		{"LongDefect", long("defect", job.MaxReasonBytes), job.RequestReplay, `"defect" is`},
		{"LongVersion", long("fixed_version", job.MaxNameBytes), job.RequestReplay, `"fixed_version" is`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := job.ParseRequest(c.kind, []byte(c.raw))
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), secret)
			requireRecordable(t, got)
		})
	}
	t.Run("KeepsWhatCouldBeRead", func(t *testing.T) {
		t.Parallel()
		got, err := job.ParseRequest(job.RequestReplay, []byte(`{"force":"x","request_id":"r1","actor":"ada"}`))
		require.Error(t, err)
		require.Equal(t, job.Request{RequestID: "r1", Actor: "ada"}, got)
	})
}

// requireRecordable proves that a refused request fits the audit trail.
func requireRecordable(t *testing.T, r job.Request) {
	t.Helper()
	for text, limit := range map[*string]int{
		&r.RequestID: job.MaxNameBytes, &r.Fixed: job.MaxNameBytes, &r.Actor: job.MaxActorBytes,
		&r.Reason: job.MaxReasonBytes, &r.Text: job.MaxReasonBytes, &r.Defect: job.MaxReasonBytes,
	} {
		require.LessOrEqual(t, len(*text), limit)
		require.True(t, utf8.ValidString(*text), "%q", *text)
	}
}
