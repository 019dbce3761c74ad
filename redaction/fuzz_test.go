package redaction_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

const canary = "cnry-7f3a9e-q7Zk"

// FuzzPayload: any bytes give valid JSON that is the same when it is redacted again, and a value that was planted beside
// them is gone.
func FuzzPayload(f *testing.F) {
	for _, seed := range []string{
		`{"password":"hunter2!","n":9007199254740993}`, `{"b":"{\"token\":[1]}","a@corp.example":1}`, `[[[["4111111111111111"]]]]`,
		`{"a":1,"a":2}`, `"\ud800"`, `{"pin":1234,"x":"[redacted:pin]"}`, "\xff", ``, `["4111","1111","1111","1111"]`, `{"d":"cGFzc3dvcmQ9aHVudGVyMg=="}`,
		`{"q":"%70assword%3dhunter2"}`, `{"x":"\u0061@b.example"}`, `{"a":["-----BEGIN PRIVATE KEY-----","MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"]}`,
		`{"tel":"+1 202 555 0147","ip":"203.0.113.7","dob":"1984-05-06"}`, `{"k":"user:pw@host","u":"x://a:b@c"}`, `{"api_key":{"x":[null,true]}}`,
	} {
		f.Add([]byte(seed))
	}
	r := newRedactor(f, redaction.Policy{})
	f.Fuzz(func(t *testing.T, in []byte) {
		out := r.Payload(in)
		require.Truef(t, json.Valid(out.JSON), "Payload(%q) is not JSON", in)
		require.NotEqual(t, redaction.ReasonPanic, out.Report.Reason)
		require.Zero(t, r.Misses())
		if !out.Report.Withheld && len(out.Report.Counts) == 0 {
			require.Equal(t, string(in), string(out.JSON), "nothing was removed")
		}
		require.Equalf(t, string(out.JSON), string(r.Payload(out.JSON).JSON), "twice, of %q", in)
		if !out.Report.Withheld {
			planted := r.Payload(fmt.Appendf(nil, `{"password":%q,"x":%s,"note":"see %s"}`, canary, in, canary))
			require.NotContains(t, strings.ToLower(string(planted.JSON)), strings.ToLower(canary))
		}
	})
}

// FuzzText: any bytes give valid text that is the same when it is redacted again, and a tainted value is gone.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		`dial postgres://u:p@h failed`, `{\"password\":\"q`, "Authorization: Basic x\n", fakePEM, fakeCard, fakeIBAN, "a@b.example", "\xff[redacted:email]",
		`Key (a)=(b) already exists`, "--token x", "<pwd>y", canary, "password=%68unter2", "&#64;b.example", "ＡＫＩＡ", "call +49 30 1234567 now",
		"cGFzc3dvcmQ9aHVudGVyMg==", "70617373776f72643d68756e74657232", "ssn 536-90-4399", "2001:db8::1", "born 1984-05-06",
	} {
		f.Add(seed)
	}
	r := newRedactor(f, redaction.Policy{})
	taint := r.Taint([]byte(`{"secret":"` + canary + `"}`))
	f.Fuzz(func(t *testing.T, in string) {
		out := r.Text(in, taint)
		require.Truef(t, utf8.ValidString(out), "Text(%q)", in)
		require.Equalf(t, out, r.Text(out, taint), "twice, of %q", in)
		around := r.Text(fmt.Sprint(in, canary, in), taint)
		require.Falsef(t, strings.Contains(strings.ToLower(around), strings.ToLower(canary)), "Text(%q) leaks", in)
	})
}

// FuzzPolicy: any source is a policy that works or an error, and no error ends the program.
func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{
		"", "mode: allow-list\nallow: [$.a]\n", "keys: ['*ref', b]\npaths: ['$..a[1:2]']\n", "patterns: [{name: a, match: 'x+'}]\n",
		"presets: [strict]\n", "operators: {email: drop, card-number: partial, ip: ip-prefix, birth-date: year}\n", "url_paths: ['/a/{b}']\nliterals: [abcd]\n",
		"duplicate_keys: scrub\nprivate_ips: true\n", "paths: ['$[']\n", "mode: [\n", "keys: [a\n",
	} {
		f.Add([]byte(seed), []byte(`{"a":{"b":[1,2,{"email":"ann@corp.example"}]},"ref":"xxabcd","u":"https://h/a/b?token=x","ip":"203.0.113.7"}`))
	}
	f.Fuzz(func(t *testing.T, source, in []byte) {
		r, err := redaction.CompileYAML(source)
		if err != nil {
			require.Nil(t, r)
			require.NotEmpty(t, err.Error())
			return
		}
		out := r.Payload(in)
		require.Truef(t, json.Valid(out.JSON), "Payload(%q) with %q", in, source)
		require.NotEqual(t, redaction.ReasonPanic, out.Report.Reason)
		again := r.Payload(out.JSON)
		require.Equalf(t, string(out.JSON), string(again.JSON), "twice, of %q with %q", in, source)
		r.Text(string(in), r.Taint(in))
	})
}
