package measure

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// surface is a place where values stand.
type surface struct {
	name string
	text bool // an error text, not a payload
	// wrap puts a sentence that holds the value, or the value itself, into a document.
	wrap func(c Class, sentence, value string) string
	// encodes is true when the surface is an encoding, in which no disguise is tried.
	encodes bool
}

func quote(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil { // strings marshal
		panic(err)
	}
	return string(quoted)
}

func surfaces() []surface {
	return []surface{
		{name: "string", wrap: func(_ Class, s, _ string) string { return `{"id":7,"note":` + quote(s) + `}` }},
		{name: "own key", wrap: func(c Class, _, v string) string { return `{"id":7,` + quote(c.Key) + `:` + quote(v) + `,"n":1.10}` }},
		{name: "array", wrap: func(_ Class, s, _ string) string { return `{"notes":["first",` + quote(s) + `,"last"]}` }},
		{name: "key", wrap: func(_ Class, s, _ string) string { return `{"by":{` + quote(s) + `:1}}` }},
		{name: "nested JSON", wrap: func(c Class, s, _ string) string { return `{"body":` + quote(`{"note":`+quote(s)+`}`) + `}` }},
		{name: "nested JSON, twice", wrap: func(c Class, s, _ string) string {
			return `{"body":` + quote(`{"inner":`+quote(`{"note":`+quote(s)+`}`)+`}`) + `}`
		}},
		{name: "base64", encodes: true, wrap: func(_ Class, s, _ string) string {
			return `{"data":` + quote(base64.StdEncoding.EncodeToString([]byte("log: "+s))) + `}`
		}},
		{name: "base64 of JSON", encodes: true, wrap: func(c Class, _, v string) string {
			return `{"data":` + quote(base64.URLEncoding.EncodeToString([]byte(`{`+quote(c.Key)+`:`+quote(v)+`,"s":`+quote(fmt.Sprintf(c.Context, v))+`}`))) + `}`
		}},
		{name: "hex", encodes: true, wrap: func(_ Class, s, _ string) string {
			return `{"data":` + quote(hex.EncodeToString([]byte("log: "+s))) + `}`
		}},
		{name: "percent", encodes: true, wrap: func(_ Class, s, _ string) string { return `{"q":` + quote("/search?q="+url.PathEscape(s)) + `}` }},
		{name: "error", text: true, wrap: func(_ Class, s, _ string) string {
			return "handler order.sync: attempt 3: " + s + ": connection refused"
		}},
		{name: "Go %q", text: true, wrap: func(_ Class, s, _ string) string { return fmt.Sprintf("decode %q: unexpected end", s) }},
		{name: "Go %+v", text: true, wrap: func(c Class, s, _ string) string { return fmt.Sprintf("{ID:7 Note:%s Err:<nil>}", s) }},
		{name: "escaped JSON in text", text: true, wrap: func(c Class, s, _ string) string {
			return "body " + strings.Trim(quote(`{"note":`+quote(s)+`}`), `"`) + " rejected"
		}},
		{name: "Java stack", text: true, wrap: func(_ Class, s, _ string) string {
			return "java.lang.IllegalStateException: " + s + "\n\tat com.corp.Orders.sync(Orders.java:42)\nCaused by: java.io.IOException: " + s
		}},
		{name: "Python stack", text: true, wrap: func(_ Class, s, _ string) string {
			return "Traceback (most recent call last):\n  File \"/app/orders.py\", line 42, in sync\nValueError: " + s
		}},
		{name: "Node stack", text: true, wrap: func(_ Class, s, _ string) string {
			return "Error: " + s + "\n    at Orders.sync (/app/orders.js:42:7)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)"
		}},
		{name: "Go panic", text: true, wrap: func(_ Class, s, _ string) string {
			return "panic: " + s + "\n\ngoroutine 7 [running]:\nmain.sync(0xc000012345)\n\t/src/main.go:42 +0x1d"
		}},
	}
}

// disguise writes a value so that a reader still reads it.
type disguise struct {
	name  string
	fits  func(c Class) bool
	apply func(value string) string
}

func disguises() []disguise {
	return []disguise{
		{"none", func(Class) bool { return true }, func(v string) string { return v }},
		{"full width", func(c Class) bool { return c.Name != "db-detail" && c.Name != "pem" }, fullWidth},
		{"zero-width space", func(c Class) bool { return !c.Whole || c.Digits }, func(v string) string {
			at := len(v) / 2
			return v[:at] + "\u200b" + v[at:]
		}},
		{"no-break spaces", func(c Class) bool { return c.Digits }, func(v string) string { return strings.ReplaceAll(v, " ", "\u00a0") }},
		{"glued", func(c Class) bool { return !c.Whole && c.Name != "npm-token" && !c.Digits }, func(v string) string { return "id" + v }},
		{"in quotes", func(c Class) bool {
			return !strings.Contains(c.Context, `"%s"`) && c.Name != "url-userinfo" && c.Name != "db-detail" && c.Name != "bearer"
		}, func(v string) string { return `"` + v + `"` }},
	}
}

// fullWidth maps the letters and digits.
func fullWidth(value string) string {
	return strings.Map(func(c rune) rune {
		if c > ' ' && c < 0x7f {
			return c - 0x20 + 0xff00
		}
		return c
	}, value)
}
