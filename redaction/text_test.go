package redaction_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

func TestTextTaint(t *testing.T) {
	t.Parallel()
	const secret = "it's \"a<b\" &ö\t100% blue"
	r := newRedactor(t, redaction.Policy{})
	taint := r.Taint([]byte(`{"order_id":"order-1001","pin":"77","password":` + quote(secret) + `,"note":"to ann@corp.example"}`))
	inJSON := quote(secret)
	for name, spelling := range map[string]string{
		"raw":           secret,
		"upper case":    strings.ToUpper("it's \"a<b\" &") + "ö\t100% BLUE",
		"JSON":          inJSON,
		"JSON twice":    quote(inJSON),
		"Go":            fmt.Sprintf("%q", secret),
		"Go in ASCII":   fmt.Sprintf("%+q", secret),
		"a Go map":      fmt.Sprintf("%v", map[string]any{"x": secret}),
		"a query":       url.QueryEscape(secret),
		"a path":        url.PathEscape(secret),
		"hex":           hex.EncodeToString([]byte(secret)),
		"base64":        base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 at 1":   base64.StdEncoding.EncodeToString([]byte("x" + secret + "yz")),
		"base64 at 2":   base64.URLEncoding.EncodeToString([]byte("xy" + secret + "z")),
		"base64 auth":   base64.StdEncoding.EncodeToString([]byte("user:" + secret)),
		"glued":         "bad" + secret + "value",
		"twice":         secret + secret,
		"an address":    "ann@corp.example",
		"in a sentence": "cannot use " + secret + " here",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.Text("order-1001: "+spelling+" refused", taint)
			require.Containsf(t, got, "order-1001: ", "Text keeps business values")
			require.Containsf(t, got, "[redacted:", "Text(%q)", spelling)
			for _, part := range []string{secret, "a<b", "blue", "BLUE", "ann@", "Ymx1Z", "IGJsdW", "gYmx1"} {
				require.NotContainsf(t, got, part, "Text(%q)", spelling)
			}
			require.Equal(t, got, r.Text(got, taint), "Text of its own output")
		})
	}
}

func TestTextTaintBounds(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	for name, c := range map[string]struct{ payload, text, want string }{
		"short values only in quotes":     {`{"pin":"77","otp":5}`, `pin 77 "77" '5' 775`, `pin 77 "[redacted:pin]" '[redacted:otp]' 775`},
		"empty values never":              {`{"password":"","secret":" "}`, `got "" and " "`, `got "" and " "`},
		"rule names only in quotes":       {`{"password":"password"}`, `no password in 'password'`, `no password in '[redacted:password]'`},
		"booleans never":                  {`{"secret":true}`, `it is true that "true"`, `it is true that "true"`},
		"the longest first":               {`{"secret":["android","androiddebugkey"]}`, `key androiddebugkey, android`, `key [redacted:secret], [redacted:secret]`},
		"each line":                       {`{"secret":"first line\nsecond line"}`, "a\n  second line\nb", "a\n  [redacted:secret]\nb"},
		"each leaf of an object":          {`{"token":{"a":["leaf-one",{"b":12345}]}}`, "leaf-one 12345 123456", "[redacted:token] [redacted:token] 123456"},
		"a number as float":               {`{"account_number":123456789012345678}`, "got 1.2345678901234568e+17", "got [redacted:bank-account]"},
		"nested JSON":                     {`{"body":"{\"secret\":\"inner-value\"}"}`, "saw inner-value", "saw [redacted:secret]"},
		"JSON under a sensitive key":      {`{"secret":"{\"x\":\"inner-value\"}"}`, "saw inner-value", "saw [redacted:secret]"},
		"a payload nobody understands":    {`{"x":"pa:ss,wd","y":`, "echo pa:ss,wd, plain words stay", "echo [redacted:payload], plain words stay"},
		"a payload with a repeated key":   {`{"q":"seven-seas","q":"b"}`, "saw seven-seas", "saw [redacted:payload]"},
		"business values stay":            {`{"order":"order-1001","city":"Bremen"}`, "order-1001 to Bremen", "order-1001 to Bremen"},
		"invalid UTF-8":                   {`{}`, "a\xffb", "a\uFFFDb"},
		"a value across the placeholders": {`{"secret":"redacted:email"}`, "x ann@corp.example", "x [redacted:email]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equalf(t, c.want, r.Text(c.text, r.Taint([]byte(c.payload))), "Text(%q) after %s", c.text, c.payload)
		})
	}
}

func TestTextModes(t *testing.T) {
	t.Parallel()
	in := []byte(`{"status":"open","who":"Ann Example","state":"open"}`)
	t.Run("AllowList", func(t *testing.T) {
		t.Parallel()
		r := newRedactor(t, redaction.Policy{Mode: redaction.AllowList, Allow: []string{"$.status"}})
		require.Equal(t, "[redacted:unlisted] is open", r.Text("Ann Example is open", r.Taint(in)))
	})
	t.Run("Withhold", func(t *testing.T) {
		t.Parallel()
		r := newRedactor(t, redaction.Policy{Mode: redaction.Withhold})
		require.Equal(t, "[redacted:withheld] is [redacted:withheld]", r.Text("Ann Example is open", r.Taint(in)))
	})
	t.Run("TooLarge", func(t *testing.T) {
		t.Parallel()
		r := newRedactor(t, redaction.Policy{MaxTextBytes: 10, MaxBytes: 20})
		require.Equal(t, "[redacted:withheld]", r.Text("eleven byte", redaction.Taint{}))
		require.Equal(t, "[redacted:withheld]", r.Text("short", r.Taint(in)), "nobody has looked into that payload")
	})
}

func TestTaintDoesNotPrint(t *testing.T) {
	t.Parallel()
	taint := newRedactor(t, redaction.Policy{}).Taint([]byte(`{"password":"hunter2!"}`))
	encoded, err := json.Marshal(taint) //lint:ignore SA9005 that nothing is marshaled is what this shows
	require.NoError(t, err)
	for _, printed := range []string{fmt.Sprintf("%v %+v %#v", taint, taint, taint), fmt.Sprintf("%+v", struct{ t redaction.Taint }{taint}), string(encoded)} {
		require.NotContains(t, printed, "hunter2")
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in    string
		limit int
		want  string
	}{
		"short enough":       {"abc", 3, "abc"},
		"cut and marked":     {strings.Repeat("a", 30), 20, "aaaaaa…[truncated]"},
		"at a rune boundary": {"aaaaa" + strings.Repeat("é", 20), 20, "aaaaa…[truncated]"},
		"no room for a mark": {"abcdef", 4, "abcd"},
		"nothing":            {"abc", 0, ""},
		"less than nothing":  {"abc", -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := redaction.Truncate(c.in, c.limit)
			require.Equalf(t, c.want, got, "Truncate(%q, %d)", c.in, c.limit)
			require.True(t, utf8.ValidString(got))
		})
	}
}

// TestHostileInput bounds the work: 256 KiB of what would be quadratic if a detector looked at it twice.
func TestHostileInput(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{MaxBytes: 4 << 20, MaxTextBytes: 4 << 20})
	for name, unit := range map[string]string{
		"pem heads": fake("-----BEGIN ", "PRIVATE KEY-----"), "pem heads, cut": "-----BEGIN ", "urls": "a://b:c", "keys": "Key (", "details": "Duplicate entry 'a\n", "key pairs": "Key (a)=(b",
		"quotes": `password:"`, "described": `token_type: aaa `, "brackets": `token:[`, "placeholders": `auth: [redacted:token] `, "ats": "a@", "percents": "%40", "digits": "4111 ", "colons": ":", "dashes": "--a",
		"tags": "<a>", "bearers": "bearer ", "letters": "a", "ibans": "DE89", "prefixes": "eyJ", "wide": "ａ", "backslashes": `\`, "nested": `{"a":`, "heads": "[redacted:",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(unit, (256<<10)/len(unit))
			start := time.Now()
			r.Text(text, redaction.Taint{})
			r.Payload([]byte(quote(text)))
			require.Lessf(t, time.Since(start), 10*time.Second, "256 KiB of %q", unit)
			if testing.Verbose() {
				t.Logf("%q: %s", unit, time.Since(start))
			}
		})
	}
}
