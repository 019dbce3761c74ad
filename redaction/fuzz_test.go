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

func FuzzPayload(f *testing.F) {
	for _, seed := range []string{
		`{"password":"hunter2!","n":9007199254740993}`, `{"b":"{\"token\":[1]}","a@corp.example":1}`, `[[[["4111111111111111"]]]]`,
		`{"a":1,"a":2}`, `"\ud800"`, `{"pin":1234,"x":"[redacted:pin]"}`, "\xff", ``,
	} {
		f.Add([]byte(seed))
	}
	r := newRedactor(f, redaction.Policy{})
	f.Fuzz(func(t *testing.T, in []byte) {
		out := r.Payload(in)
		require.Truef(t, json.Valid(out.JSON), "Payload(%q) is not JSON", in)
		if !out.Report.Withheld && len(out.Report.ByRule) == 0 {
			require.Equal(t, string(in), string(out.JSON), "nothing was removed")
		}
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		`dial postgres://u:p@h failed`, `{\"password\":\"q`, "Authorization: Basic x\n", fakePEM, fakeCard, fakeIBAN, "a@b.example", "\xff[redacted:email]",
		`Key (a)=(b) already exists`, "--token x", "<pwd>y", "cnry-7f3a9e",
	} {
		f.Add(seed)
	}
	r := newRedactor(f, redaction.Policy{})
	taint := r.Taint([]byte(`{"secret":"cnry-7f3a9e"}`))
	f.Fuzz(func(t *testing.T, in string) {
		out := r.Text(in, taint)
		require.Truef(t, utf8.ValidString(out), "Text(%q)", in)
		require.Falsef(t, strings.Contains(strings.ToLower(r.Text(fmt.Sprint(in, "cnry-7f3a9e", in), taint)), "cnry-7f3a9e"), "Text(%q) leaks", in)
	})
}
