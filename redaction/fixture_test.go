package redaction_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

// newRedactor compiles a policy that must be good.
func newRedactor(t testing.TB, p redaction.Policy) *redaction.Redactor {
	t.Helper()
	r, err := redaction.Compile(p)
	require.NoError(t, err)
	return r
}

// fake builds a value with the shape of a secret. The parts meet at run time, so that no scanner takes this repository
// for a leak.
func fake(parts ...string) string { return strings.Join(parts, "") }

// The secrets that the tests plant.
var (
	fakeGitHub = fake("gh", "p_", "a8Kd03Lq", "Zx91Mv7P", "Tn5Rw2Yb", "Ck6Hj4Fg")
	fakeAWS    = fake("AK", "IA", "Q3R7ZP2M", "X9K4T6VB")
	fakeJWT    = fake("ey", "JhbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiI0MiJ9", ".", "c2lnbmF0dXJlLW9mLXRoaXM")
	fakeCard   = fake("4111", "1111", "1111", "1111")
	fakeIBAN   = fake("DE89", "3704", "0044", "0532", "0130", "00")
	fakePEM    = fake("-----BEGIN ", "PRIVATE KEY-----\n", strings.Repeat("MIIEvQIBADANBgkq", 3), "\n", strings.Repeat("hkiG9w0BAQEFAASC", 3),
		"\n-----END ", "PRIVATE KEY-----")
)

// quote spells a string as JSON.
func quote(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// payload redacts a document and checks what must hold for every output.
func payload(t testing.TB, r *redaction.Redactor, in string) redaction.Redacted {
	t.Helper()
	out := r.Payload([]byte(in))
	require.Truef(t, json.Valid(out.JSON), "Payload(%s): got %s, want valid JSON", in, out.JSON)
	again := r.Payload(out.JSON)
	require.Equalf(t, string(out.JSON), string(again.JSON), "Payload of its own output for %s", in)
	return out
}
