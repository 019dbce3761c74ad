package redaction_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/redaction"
)

// plainWords are names and values that no rule touches.
var plainWords = []string{"order", "city", "author", "status", "lines", "sku", "created_at", "postcode", "note", "Ünïcode", "a b", ""}

// genPlain draws a JSON document without anything sensitive, white space included.
func genPlain(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", " ", "\n\t"})
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"0", "-1.10", "9007199254740993", "1E+2", "true", "false", "null"}).Draw(t, "literal")
	case 1, 2, 3:
		return quote(rapid.SampledFrom(plainWords).Draw(t, "word"))
	case 4:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, space.Draw(t, "space")+genPlain(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var members []string
	for i := range rapid.IntRange(0, 3).Draw(t, "members") {
		name := rapid.SampledFrom(plainWords).Draw(t, "name")
		if i > 0 {
			name = fmt.Sprintf("%s %c", name, 'a'+i) // no duplicates
		}
		members = append(members, quote(name)+space.Draw(t, "space")+":"+genPlain(t, depth-1))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// genPlanted wraps a canary under a sensitive key into containers of any depth, as itself, in containers, or in nested JSON.
func genPlanted(t *rapid.T, canary string) string {
	key := rapid.SampledFrom([]string{"password", "apiKey", "x-api-key", "db.password", "refreshTokens", "SESSION_ID", "email", "card_number"}).Draw(t, "key")
	value := quote(canary)
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		value = `[1,{"x":` + value + `}]`
	case 1:
		value = quote(`{"x":` + value + `}`)
	case 2:
		value = quote("  " + canary + "\n")
	}
	doc := `{` + quote(key) + `:` + value + `,"plain":` + genPlain(t, 2) + `,"copy":` + quote("see "+canary) + `}`
	if rapid.Bool().Draw(t, "nested") {
		doc = quote(doc)
	}
	for range rapid.IntRange(0, 8).Draw(t, "depth") {
		if rapid.Bool().Draw(t, "array") {
			doc = `[` + genPlain(t, 1) + `,` + doc + `]`
		} else {
			doc = `{"a":` + doc + `,"b":` + genPlain(t, 1) + `}`
		}
	}
	return doc
}

// requireAbsent searches for a canary in every spelling.
func requireAbsent(t require.TestingT, canary, out, what string) {
	for _, spelling := range []string{canary, quote(canary), quote(quote(canary)), fmt.Sprintf("%q", canary), url.QueryEscape(canary), base64.StdEncoding.EncodeToString([]byte(canary))} {
		require.NotContainsf(t, out, strings.Trim(spelling, `"=`), "%s holds the canary", what)
	}
}

func TestCanaryNeverLeaves(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	rapid.Check(t, func(t *rapid.T) {
		canary := "cnry" + rapid.StringMatching(`[a-z0-9"<&\\ é%]{4,20}[a-z0-9]{8}`).Draw(t, "canary")
		in := genPlanted(t, canary)
		out := r.Payload([]byte(in))
		require.False(t, out.Report.Withheld, "withheld: %s", out.Report.Reason)
		require.True(t, json.Valid(out.JSON))
		requireAbsent(t, canary, string(out.JSON), "output")
		require.Equal(t, string(out.JSON), string(r.Payload(out.JSON).JSON), "redacting twice")
		taint := r.Taint([]byte(in))
		text := r.Text(fmt.Sprintf("%s: %q: %s: %s", canary, canary, quote(canary), base64.StdEncoding.EncodeToString([]byte("x"+canary))), taint)
		requireAbsent(t, canary, text, "text")
		require.Equal(t, text, r.Text(text, taint), "scrubbing twice")
	})
}

func TestPlainDocumentsStay(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	rapid.Check(t, func(t *rapid.T) {
		in := genPlain(t, 5)
		require.Equal(t, in, string(r.Payload([]byte(in)).JSON))
	})
}

func TestAnyBytes(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		require.True(t, json.Valid(r.Payload(in).JSON))
		r.Text(string(in), r.Taint(in))
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{Paths: []string{"$..x"}, Keys: []string{"ref"}})
	in := []byte(`{"x":1,"ref":"r-100200","email":"ann@corp.example","n":[{"password":"hunter2!"}]}`)
	want := r.Payload(in)
	var group sync.WaitGroup
	results := make([]redaction.Redacted, 16)
	texts := make([]string, len(results))
	taint := r.Taint(in)
	for i := range results {
		group.Go(func() {
			results[i] = r.Payload(in)
			texts[i] = r.Text("bad r-100200 and hunter2!", taint)
		})
	}
	group.Wait()
	for i := range results {
		require.Equal(t, want, results[i])
		require.Equal(t, "bad [redacted:key] and [redacted:password]", texts[i])
	}
}

// TestRedactingTwice mixes what the rules look at with placeholders: the second pass must find nothing new.
func TestRedactingTwice(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	parts := []string{
		"password", "=", ":", " ", "\"", "'", "\\", "\n", "[redacted:password]", "]", "{", "[", ",", "&", "?", "token", "://", "@", "a@b.example", "u:p@h",
		"x", "4111 1111 1111 1111", "Bearer ", "q7Zk9xx", "Key (", ")=(", ")", "authorization", "_count", "--", "<", ">", "%40", "#2", ".", fakeGitHub, fakeAWS, "é", "7",
	}
	rapid.Check(t, func(t *rapid.T) {
		soup := func(label string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 14).Draw(t, label), "")
		}
		text := r.Text(soup("text"), redaction.Taint{})
		require.Equal(t, text, r.Text(text, redaction.Taint{}))
		out := r.Payload([]byte(`{` + quote("a"+soup("key")) + `:` + quote(soup("value")) + `,"b":` + quote(soup("other")) + `}`))
		require.Equal(t, string(out.JSON), string(r.Payload(out.JSON).JSON))
	})
}
