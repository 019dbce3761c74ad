package redaction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

// TestTextDetects reads: in the text, each secret is removed and the rest stays.
func TestTextDetects(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{Patterns: []redaction.Pattern{{Name: "member-no", Match: `M-\d{6}`}}})
	long := fake("gh", "s_123_", "ey", strings.Repeat("Jh.bG-c_", 65))
	for name, c := range map[string]struct{ in, want string }{
		"github":                      {"clone with " + fakeGitHub + ".", "clone with [redacted:github-token]."},
		"github, the long form":       {"x " + long + " y", "x [redacted:github-token] y"},
		"github, fine-grained":        {fake("github", "_pat_", strings.Repeat("a1B2", 8)), "[redacted:github-token]"},
		"aws, glued to a word":        {"prefix" + fakeAWS + " end", "prefix[redacted:aws-key] end"},
		"aws, the documented example": {fake("AK", "IA", "IOSFODNN7", "EXAMPLE"), "[redacted:aws-key]"},
		"aws, full-width":             {"ＡＫＩＡ" + fakeAWS[4:], "[redacted:aws-key]"},
		"slack":                       {"bot " + fake("xo", "xb-", "12345678-abcdef"), "bot [redacted:slack-token]"},
		"stripe":                      {fake("sk", "_live_", "4eC39HqLyjWD") + " " + fake("wh", "sec_", "a8b7c6d5e4"), "[redacted:stripe-key] [redacted:stripe-key]"},
		"google":                      {fake("AI", "za", strings.Repeat("Sy4", 12)), "[redacted:google-key]"},
		"jwt":                         {"got " + fakeJWT + " from", "got [redacted:jwt] from"},
		"bearer":                      {"bearer q7Zk9-x_1 rejected", "bearer [redacted:bearer] rejected"},
		"basic":                       {"Basic dXNlcjpwYXNz.", "Basic [redacted:basic]."},
		"pem":                         {"a " + fakePEM + " b", "a [redacted:pem] b"},
		"pem, lower case":             {strings.ToLower(fakePEM) + "\nb", "[redacted:pem]\nb"},
		"pem, escaped breaks":         {strings.ReplaceAll(fakePEM, "\n", `\n`), "[redacted:pem]"},
		"pem, cut off":                {"a " + fakePEM[:70], "a [redacted:pem]"},
		"userinfo":                    {"dial postgres://app:hunter2!@db.corp/x failed", "dial postgres://[redacted:url-userinfo]@db.corp/x failed"},
		"userinfo, several @":         {`parse "postgresql://u:He@llo1\@h/db": bad`, `parse "postgresql://[redacted:url-userinfo]@h/db": bad`},
		"userinfo, percent and port":  {`parse "postgres://u:p%S@h:abc/db": invalid`, `parse "postgres://[redacted:url-userinfo]@h:abc/db": invalid`},
		"userinfo, slash in password": {"amqp://u:pa/ss#x@h/v", "amqp://[redacted:url-userinfo]@h/v"},
		"userinfo, token only":        {"https://q7zk9x@github.example/x", "https://[redacted:url-userinfo]@github.example/x"},
		"query":                       {`Get "https://h/x?key=q7zk9&n=2": dial tcp`, `Get "https://h/x?key=[redacted:url-param]&n=2": dial tcp`},
		"query, encoded name":         {"https://h/x?access%5Ftoken=q7#z", "https://h/x?access%5Ftoken=[redacted:token]"},
		"fragment":                    {"https://h/cb#access_token=q7zk&x=John%20Doe", "https://h/cb#access_token=[redacted:token]&x=John%20Doe"},
		"form brackets":               {"user[password]=q7zk&n=1", "user[password]=[redacted:password]&n=1"},
		"pair":                        {"password=q7 host=db", "password=[redacted:password] host=db"},
		"pair, libpq quotes":          {"host=db password='q 7' port=1", "host=db password='[redacted:password]' port=1"},
		"pair, JSON":                  {`got {"password":"q\"7","n":1}`, `got {"password":"[redacted:password]","n":1}`},
		"pair, escaped JSON":          {`got {\"api_key\":\"q7\",\"n\":1}`, `got {\"api_key\":\"[redacted:api-key]\",\"n\":1}`},
		"pair, escaped twice":         {`got {\\\"api_key\\\":\\\"q7\\\",\\\"n\\\":1}`, `got {\\\"api_key\\\":\\\"[redacted:api-key]\\\",\\\"n\\\":1}`},
		"pair, unterminated":          {`{"password":"foo\"bar q7`, `{"password":"[redacted:password]`},
		"pair, a list":                {`{"tokens":["q7","]z"],"n":1}`, `{"tokens":[redacted:token],"n":1}`},
		"pair, Go struct":             {`{Email:none Password:q7zk Age:3}`, `{Email:[redacted:email] Password:[redacted:password] Age:3}`},
		"pair, Ruby inspect":          {`#<User email: "q@x", password: "q7">`, `#<User email: "[redacted:email]", password: "[redacted:password]">`},
		"pair, Ruby rocket":           {`{:password=>"q7", :n=>1}`, `{:password=>"[redacted:password]", :n=>1}`},
		"pair, XML":                   {`<password>q7</password><n>1</n>`, `<password>[redacted:password]</password><n>1</n>`},
		"pair, command line":          {`run --token q7zk --port 80`, `run --token [redacted:token] --port 80`},
		"header":                      {"Authorization: Digest u=q, r=z\nAccept: */*", "Authorization: [redacted:authorization]\nAccept: */*"},
		"header, empty":               {"Cookie:\nAccept: */*", "Cookie:\nAccept: */*"},
		"header in JSON":              {`{"Set-Cookie":"a=q7; b=1","n":1}`, `{"Set-Cookie":"[redacted:cookie]","n":1}`},
		"card":                        {"card 4111 1111 1111 1111, exp", "card [redacted:card-number], exp"},
		"card, then expiry":           {"4151 3217 6243 3448 12 29", "[redacted:card-number] 12 29"},
		"card before a domain":        {"4151 3217 6243 3448.com", "[redacted:card-number].com"},
		"card, Mastercard 2-series":   {"2221-0000-0000-0009", "[redacted:card-number]"},
		"card, Amex":                  {"3782 822463 10005", "[redacted:card-number]"},
		"card, 19 digits":             {"6212345678900000003", "[redacted:card-number]"},
		"card, glued":                 {"card" + fakeCard + "x", "card[redacted:card-number]x"},
		"iban":                        {fakeIBAN + " failed", "[redacted:iban] failed"},
		"iban, separators":            {"DE89 3704-0044 0532 0130 00", "[redacted:iban]"},
		"email":                       {"no user Bob.O+x@mail.corp.example.", "no user [redacted:email]."},
		"email, zero width":           {"alice@\u200bexample.com", "[redacted:email]"},
		"email, look-alikes":          {"аlice@example.com bob＠test.org", "[redacted:email] [redacted:email]"},
		"email, percent":              {"/u/bob%40corp.example/x", "/u/[redacted:email]/x"},
		"postgres key":                {`Key (ref)=(a) (b)) already exists.`, `Key (ref)=([redacted:db-detail]) already exists.`},
		"postgres row":                {`Failing row contains (7, Ann (x), null).`, `Failing row contains ([redacted:db-detail]).`},
		"mysql":                       {`Duplicate entry 'O'Hara' for key 'n'`, `Duplicate entry '[redacted:db-detail]' for key 'n'`},
		"a pattern of the user":       {"member M-123456 left", "member [redacted:member-no] left"},
		"overlapping rules":           {"password=" + fakeGitHub + "@corp.example;x", "password=[redacted:password];x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.Text(c.in, redaction.Taint{})
			require.Equalf(t, c.want, got, "Text(%q)", c.in)
			require.Equalf(t, got, r.Text(got, redaction.Taint{}), "Text of its own output")
		})
	}
}

func TestTextKeeps(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	for _, text := range []string{
		"", "Missing Token", "author_id: 7", "postcode: 12345", "key: port-443", "monkey: banana", "apiGroup: rbac.authorization.k8s.io",
		"max_tokens=100 token_count: 3 token_type: bearer", "uses basic authentication and Bearer authentication", "order 1001 not found",
		"the file starts with -----BEGIN PRIVATE KEY----- and then base64", "1748503543012", "job 1234567890123456", "Tue 02 20:17:00 CST 2026",
		"f47ac10b-58cc-4372-a567-0e02b2c3d479", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"git@github.com:org/repo.git", "golang.org/x/text@v0.44.0/unicode", "icon@2x.png", "https://localhost:8080/@user", "https://u:********@h/x",
		"/src/app/main.go:42 +0x1d", "disk-01234567890123456789", "0.4532015112830366", "password=null token=<nil>", "4111 1111 1111 1112",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "x=[redacted:email] password: [redacted:password], token='[redacted:token]'",
	} {
		require.Equalf(t, text, r.Text(text, redaction.Taint{}), "Text(%q)", text)
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	for key, want := range map[string]string{
		"order-1001.receipt": "", "0190b3c1-7d4e-7cc2-9a55-3f1b2a6c7d8e": "", "2026-12-01T00:00:00Z": "",
		"user-bob@corp.example": "email", "card-" + fakeCard: "card-number", "k." + fakeAWS: "aws-key",
	} {
		rule, found := r.Detect(key)
		require.Equalf(t, want, rule, "Detect(%q)", key)
		require.Equalf(t, want != "", found, "Detect(%q)", key)
	}
}
