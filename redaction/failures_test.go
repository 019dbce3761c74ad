package redaction_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/redaction/measure"
)

// failure is something that another scrubber got wrong in public. Values are checked by kind: what has to be gone is
// searched for in every encoding, what has to stay is compared.
type failure struct {
	source string // whose issue it is
	policy redaction.Policy
	in     string   // a payload
	text   string   // or a text
	taint  string   // with this payload beside it
	gone   []string // no part of these can be read
	kept   []string // these still stand there
	same   bool     // nothing changed at all
	reason redaction.Reason
}

var fakeProj = fake("sk-", "proj-", "q7ZkT3mW9xYb", "4nRc8vLp2sDf")

const fakePhrase = "q7Zk-T3mW-9xYb-4nRc"

// leaks are values that stayed readable.
var leaks = []failure{
	{source: "sentry#25960 arguments in inspect text", text: "NoMethodError for #<User email: \"ann@corp.example\", password: \"" + fakePhrase + "\">\n  app/user.rb:7:in `save'", gone: []string{"ann@corp.example", fakePhrase}, kept: []string{"app/user.rb:7"}},
	{source: "sentry#42317 frame variables", in: `{"frames":[{"function":"save","vars":{"self":"<User>","password":"` + fakePhrase + `"}}]}`, gone: []string{fakePhrase}, kept: []string{`"function":"save"`}},
	{source: "sentry-docs#6087 one card in three places", in: `{"context":"` + fakeCard + `","tags":{"c":"` + fakeCard + `"},"exception":"card ` + fakeCard + ` declined"}`, gone: []string{fakeCard}},
	{source: "gitleaks#2198 a stop word inside", in: `{"password":"Zq8pL2vX9mT4kR7wN3bY6cF1hJ5dG0sAzQ8pL2vX9mT4kR7wN3bYhook"}`, gone: []string{"Zq8pL2vX9mT4kR7wN3bY6cF1hJ5dG0sAzQ8pL2vX9mT4kR7wN3bYhook"}},
	{source: "gitleaks#937 a stop word as a part", in: `{"password":"qwerty123"}`, gone: []string{"qwerty123"}},
	{source: "gitleaks allow comment", in: `{"t":` + quote(fakeGitHub) + `,"n":"gitleaks:allow"}`, gone: []string{fakeGitHub}},
	{source: "pino#1708 three wildcards", policy: redaction.Policy{Paths: []string{"$.*.*.*.ref"}}, in: `{"a":{"b":{"c":{"ref":"Bremen-77"}}}}`, gone: []string{"Bremen-77"}},
	{source: "fast-redact#27 nested arrays", policy: redaction.Policy{Paths: []string{"$..entries[*].value"}}, in: `{"x":[[{"entries":[{"value":"Bremen-77"},{"value":"Bremen-88"}]}]]}`, gone: []string{"Bremen-77", "Bremen-88"}},
	{source: "pino#2478 a glob that does nothing", policy: redaction.Policy{Keys: []string{"*ref"}}, in: `{"customer_ref":"Bremen-77","referee":"x"}`, gone: []string{"Bremen-77"}, kept: []string{`"referee":"x"`}},
	{source: "otel-contrib#36684 a card as an integer", in: `{"c":` + fakeCard + `}`, gone: []string{fakeCard}},
	{source: "Datadog SDS numbers are not scanned", in: `{"ssn":536904399}`, gone: []string{"536904399"}},
	{source: "saluki#2402 cards of 19 digits", text: "paid 6212345678900000003.", gone: []string{"6212345678900000003"}},
	{source: "presidio#1048 no Luhn after the words", text: "credit card account is 1234-5678-1234-5678", gone: []string{"1234-5678-1234-5678"}},
	{source: "presidio PR#2075 Mastercard 2-series", text: "2221 0000 0000 0009", gone: []string{"2221 0000 0000 0009"}},
	{source: "presidio#1795 the word behind", text: fakeIBAN + " failed", gone: []string{fakeIBAN}, kept: []string{" failed"}},
	{source: "presidio PR#370 separators", text: "DE89 3704-0044 0532 0130 00", gone: []string{fakeIBAN}},
	{source: "presidio#1156 the longer span", text: "see " + fakeGitHub + "@corp.example", gone: []string{fakeGitHub, "corp.example"}},
	{source: "DAM#12 zero-width space", text: "alice@\u200bexample.com", gone: []string{"alice@example.com"}},
	{source: "DAM#9 other scripts", text: "аlice@example.com bob＠test.org", gone: []string{"lice@example.com", "bob@test.org"}},
	{source: "daimon#660 full width", text: "key ＡＫＩＡ" + fakeAWS[4:], gone: []string{fakeAWS[4:]}},
	{source: "daimon#660 mathematical bold", text: "key 𝐀𝐊𝐈𝐀" + fakeAWS[4:], gone: []string{fakeAWS[4:]}},
	{source: "openmed#1345 split by punctuation", in: `{"ssn":"1.2.3-4.5-6.7.8.9"}`, gone: []string{"1.2.3-4.5-6.7.8.9"}},
	{source: "kali-mcp#27 lower case", text: strings.ToLower(fakePEM) + "\nnext line", gone: []string{strings.ToLower(fakePEM)[40:80]}, kept: []string{"next line"}},
	{source: "runner#2232 a JSON secret masks braces only", taint: `{"secret":{"user":"leaf-one","pass":"leaf-two"}}`, text: `cannot read {"user":"leaf-one","pass":"leaf-two"}: leaf-two`, gone: []string{"leaf-one", "leaf-two"}},
	{source: "runner#291 base64 of value and suffix", taint: `{"secret":"` + fakePhrase + `"}`, text: "sent " + base64.StdEncoding.EncodeToString([]byte("x"+fakePhrase+"\n")) + " and " + base64.StdEncoding.EncodeToString([]byte("xy"+fakePhrase)) + " or " + base32.StdEncoding.EncodeToString([]byte(fakePhrase)), gone: []string{fakePhrase}},
	{source: "ftp-deployment#314 the second line", taint: `{"password":"first-line\nsecond-line"}`, text: "echo first-line\n  second-line", gone: []string{"first-line", "second-line"}},
	{source: "credentials-binding PR#29 one contains another", taint: `{"secret":["android","androiddebugkey"]}`, text: "key androiddebugkey", gone: []string{"androiddebugkey", "debugkey"}},
	{source: "credentials-binding PR#59 shell quotes", taint: `{"secret":"foo'bar-baz"}`, text: `run 'foo'\''bar-baz'`, gone: []string{"bar-baz"}},
	{source: "qwen-code#11424 Go's escapes", taint: `{"secret":"a\"b<c-longer"}`, text: `{"v":"a\"b\u003cc-longer"}`, gone: []string{"c-longer"}},
	{source: "local-operator#1254 glued hex", taint: `{"secret":"9f86d081884c7d659a2feaa0c55ad015"}`, text: "prefix9f86d081884c7d659a2feaa0c55ad015", gone: []string{"9f86d081884c7d659a2feaa0c55ad015"}, kept: []string{"prefix"}},
	{source: "fountain#2359 split over elements", in: `{"chunks":["` + fakeGitHub[:14] + `","` + fakeGitHub[14:] + `"]}`, gone: []string{fakeGitHub[4:14], fakeGitHub[14:]}},
	{source: "buildbuddy#10386 a token cut late", in: `{"chunks":["` + fakeGitHub[:26] + `","` + fakeGitHub[26:] + `","order-1"]}`, gone: []string{fakeGitHub[4:26], fakeGitHub[26:]}, kept: []string{"order-1"}},
	{source: "pgx#1271 a DSN that does not parse", text: `cannot parse "postgresql://u:Hello121\@h/db": invalid port; "postgres://u:p%S_long@h:abc/db"`, gone: []string{"Hello121", "p%S_long"}},
	{source: "malloy#915 keyword form", text: "host=db user=app password=Hello-121 dbname=x", gone: []string{"Hello-121"}, kept: []string{"host=db user=app password=", " dbname=x"}},
	{source: "malloy#915 query form", text: "postgres://db.corp/x?user=app&password=Hello-121&sslmode=require", gone: []string{"Hello-121"}, kept: []string{"sslmode=require"}},
	{source: "vault#14744 percent-encoded", taint: `{"password":"yourStrong(!)Password"}`, text: "sqlserver: login yourStrong%28%21%29Password", gone: []string{"yourStrong(!)Password"}},
	{source: "go-datadog-api#76 url.Error", text: `Get "https://api.host.example/x?api_key=q7ZkT3mW9xYb": dial tcp: timeout`, gone: []string{"q7ZkT3mW9xYb"}, kept: []string{"api.host.example", "dial tcp: timeout"}},
	{source: "lace#397 fragment", text: "https://h.example/cb#access_token=q7ZkT3mW9xYb&x=John%20Doe", gone: []string{"q7ZkT3mW9xYb"}, kept: []string{"&x=John%20Doe"}},
	{source: "oh-my-pi#11913 prose behind a URL", text: "https://h.example/cb?code=q7ZkT3mW9xYb returned invalid_grant", gone: []string{"q7ZkT3mW9xYb"}, kept: []string{" returned invalid_grant"}},
	{source: "spring-boot#17930 four forms", text: "uri=amqp://u:q7ZkT3mW@h jdbc:mysql://h/db?password=q7ZkT3mX {\"MY_SECRET\":\"q7ZkT3mY\"} java -Dkeystore.password=q7ZkT3mZ -jar x", gone: []string{"q7ZkT3mW", "q7ZkT3mX", "q7ZkT3mY", "q7ZkT3mZ"}},
	{source: "npgsql#2501 driver details", text: "ERROR: duplicate key violates \"users_ref_key\" DETAIL: Key (ref)=(Ann Example) already exists.\nFailing row contains (7, Ann Example, null).", gone: []string{"Ann Example"}, kept: []string{"users_ref_key", "Key (ref)"}},
	{source: "objectstack#8823 MySQL", text: "Error 1062: Duplicate entry 'Ann Example' for key 'users.name'", gone: []string{"Ann Example"}, kept: []string{"users.name"}},
	{source: "hermes#50514 cookies and JSON headers", text: "Set-Cookie: sid=q7ZkT3mW; Path=/\n{\"x-api-key\":\"q7ZkT3mX9\"}\nCookie: a=q7ZkT3mY", gone: []string{"q7ZkT3mW", "q7ZkT3mX9", "q7ZkT3mY"}},
	{source: "hermes#69196 an escaped quote ends the match", text: `{"password":"foo\"bar` + fakePhrase, gone: []string{fakePhrase, `foo\"bar`}},
	{source: "deja-vu#1765 escaped JSON", text: `got {\"api_key\":\"q7ZkT3mW\"} and {\\\"api_key\\\":\\\"q7ZkT3mX\\\"}`, gone: []string{"q7ZkT3mW", "q7ZkT3mX"}},
	{source: "vellum#2766 containers under a sensitive key", in: `{"token":["q7ZkT3mW"],"secret":[[{"x":"q7ZkT3mX"}]]}`, gone: []string{"q7ZkT3mW", "q7ZkT3mX"}},
	{source: "openclaw#13091 a list of tokens", in: `{"max_tokens":8192,"refreshTokens":["q7ZkT3mW"]}`, gone: []string{"q7ZkT3mW"}, kept: []string{`"max_tokens":8192`}},
	{source: "vm0#21609 a secret as a name", in: `{` + quote(fakeProj) + `:true}`, gone: []string{fakeProj}, kept: []string{":true}"}},
	{source: "latitude#4245 a structural name", in: `{"id":"john@example.com"}`, gone: []string{"john@example.com"}},
	{source: "langwatch#7543 an exemption switches detectors off", policy: redaction.Policy{Allow: []string{"token", "$.reserved"}}, in: `{"token":` + quote(fakeGitHub) + `,"reserved":` + quote(fakeGitHub) + `}`, gone: []string{fakeGitHub}},
	{source: "logstash-logback#641 in a stack", text: "java.lang.IllegalStateException: apikey=q7ZkT3mW rejected\n\tat com.corp.Api.call(Api.java:42)", gone: []string{"q7ZkT3mW"}, kept: []string{"at com.corp.Api.call(Api.java:42)"}},
	{source: "dbmcp#169 birth dates", in: `{"created_at":"2026-01-02","date_of_birth":"1984-05-06"}`, gone: []string{"1984-05-06"}, kept: []string{`"created_at":"2026-01-02"`}},
	{source: "neiliro#194 a token in a path", policy: redaction.Policy{URLPaths: []string{"/api/feed/{token}"}}, text: "GET https://h.example/api/feed/q7ZkT3mW9xYb?n=1 failed", gone: []string{"q7ZkT3mW9xYb"}, kept: []string{"https://h.example/api/feed/", "?n=1 failed"}},
	{source: "runlore#322 a Kubernetes Secret", taint: `{"kind":"Secret","data":{"password":"` + base64.StdEncoding.EncodeToString([]byte(fakePhrase)) + `"}}`, text: "login with " + fakePhrase, gone: []string{fakePhrase}},
	{source: "pipelock the PEM body", text: fakePEM, gone: []string{fakePEM[30:70]}},
	{source: "otel-contrib#36633 in every surface", in: `{"event":{"body":` + quote("x "+fakeJWT) + `},"scope":{` + quote(fakeJWT) + `:1},"list":[` + quote(fakeJWT) + `]}`, gone: []string{fakeJWT}},
}

// corruptions and over-redactions: what has to stay as it was.
var keeps = []failure{
	{source: "relay#1662 words in prose", text: "Missing Token, author_id: 7", same: true},
	{source: "gitleaks#850 words with auth", text: "apiGroup: rbac.authorization.k8s.io tokenizationId=7; uses authentication", same: true},
	{source: "gitleaks#1587 words with key", in: `{"monkey":"banana","keyboard":"qwertz","public":"capital"}`, same: true},
	{source: "datadog-agent#23777 ids of 12 to 16 digits", in: `{"account":"123456789012","job":"1234567890123456","n":1234567890123456}`, same: true},
	{source: "presidio#1607 milliseconds", in: `{"at":1748503543012,"s":"1748503543012"}`, same: true},
	{source: "presidio#888 what stands behind", text: "4151 3217 6243 3448.com", gone: []string{"4151321762433448"}, kept: []string{".com"}},
	{source: "tinycortex#154 ids and times", in: `{"at":1755302400,"id":2015550123}`, same: true},
	{source: "nullclaw#944 the output of date", text: "Tue 02 20:17:00 CST 2026", same: true},
	{source: "khive#2720 a mention of a header", text: "the file starts with -----BEGIN PRIVATE KEY----- and a body follows", same: true},
	{source: "runner#326 a secret of one letter", taint: `{"secret":"e","password":""}`, text: "the rest of the sentence stays", same: true},
	{source: "EDDI#703 numbers and valid JSON", in: `{"token":12345678,"n":1}`, kept: []string{`"n":1`}, gone: []string{"12345678"}},
	{source: "rails#24346 code and postcode", in: `{"postcode":"12345","code":"E42","key":"port-443"}`, same: true},
	{source: "obsigna#1022 integers and order", in: `{"z":9007199254740993,"a":1.10}`, same: true},
	{source: "trufflehog#1489 a mask", text: "https://u:********@h.example/x and u=%2A%2A%2A", same: true},
	{source: "browser-use#5248 our own words", taint: `{"secret":"redacted","password":"password"}`, text: "the [redacted:password] was redacted", same: true},
	{source: "pipelock duplicate names", in: `{"a":"ok","a":` + quote(fakeGitHub) + `}`, reason: redaction.ReasonDuplicateKey, gone: []string{fakeGitHub}},
	{source: "pipelock duplicate names, all scrubbed", policy: redaction.Policy{DuplicateKeys: redaction.ScrubAll}, in: `{"a":"ok","a":` + quote(fakeGitHub) + `}`, gone: []string{fakeGitHub}, kept: []string{`"a":"ok"`}},
	{source: "sim#5732 no time left", policy: redaction.Policy{Budget: 1}, in: `{"password":"q7ZkT3mW"}`, reason: redaction.ReasonTimeBudget, gone: []string{"q7ZkT3mW"}},
}

func TestFailuresOfOthers(t *testing.T) {
	t.Parallel()
	for _, f := range append(append([]failure{}, leaks...), keeps...) {
		t.Run(f.source, func(t *testing.T) {
			t.Parallel()
			f.check(t)
		})
	}
}

func (f failure) check(t *testing.T) {
	t.Helper()
	r := newRedactor(t, f.policy)
	out, in := "", f.in
	if f.text != "" {
		in = f.text
		out = r.Text(f.text, r.Taint([]byte(f.taint)))
		if f.taint == "" {
			out = r.Text(f.text, redaction.Taint{})
		}
		require.Equal(t, out, r.Text(out, r.Taint([]byte(`{}`))), "twice")
	} else {
		redacted := r.Payload([]byte(f.in))
		out = string(redacted.JSON)
		require.Truef(t, json.Valid(redacted.JSON), "%s", out)
		require.Equalf(t, f.reason, redacted.Report.Reason, "%s", out)
		require.JSONEq(t, out, string(r.Payload(redacted.JSON).JSON), "twice")
	}
	for _, value := range f.gone {
		require.Emptyf(t, measure.Leak(out, value), "a part of %q can be read in %s", value, out)
	}
	for _, kept := range f.kept {
		require.Containsf(t, out, kept, "of %s", in)
	}
	if f.same {
		require.Equal(t, in, out)
	}
}

// TestTruncatingLast: a text that was cut before it was redacted holds parts of secrets that no rule knows.
func TestTruncatingLast(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	text := "call with " + fakeGitHub + " and " + fakeJWT + " failed"
	for limit := range len(text) + 1 {
		out := redaction.Truncate(r.Text(text, redaction.Taint{}), limit)
		for _, value := range []string{fakeGitHub, fakeJWT} {
			require.Emptyf(t, measure.Leak(out, value), "cut at %d: %s", limit, out)
		}
	}
}

// TestHashesAreKeyed: a plain hash of a phone number is found by trying all of them (presidio#1845).
func TestHashesAreKeyed(t *testing.T) {
	t.Parallel()
	policy := func(id, secret string) redaction.Policy {
		return redaction.Policy{
			Operators: map[string]redaction.Operator{"email": redaction.OpHMAC, "phone": redaction.OpHMAC},
			HMACKeys:  []redaction.HMACKey{{ID: id, Secret: []byte(strings.Repeat(secret, 32))}},
		}
	}
	in := `{"email":"Ann@corp.example","note":"ann@corp.example wrote","phone":"ann@corp.example"}`
	one, two := payload(t, newRedactor(t, policy("k1", "a")), in), payload(t, newRedactor(t, policy("k2", "b")), in)
	var tokens map[string]string
	require.NoError(t, json.Unmarshal(one.JSON, &tokens))
	require.Regexp(t, `^\[redacted:email:k1:[a-z2-7]{32}\]$`, tokens["email"])
	require.Equal(t, tokens["email"]+" wrote", tokens["note"], "equal values have equal tokens, however they are spelled")
	require.NotContains(t, tokens["phone"], strings.TrimPrefix(tokens["email"], "[redacted:email:"), "classes differ")
	require.NotEqual(t, string(one.JSON), string(two.JSON), "keys differ")
}
