package measure

import (
	"encoding/base64"
	"strings"
)

// HostileShape is a document whose cost would grow faster than its size if anything in it were looked at again and again.
type HostileShape struct {
	Name string
	unit string
	raw  bool // the unit is JSON, not text
}

// Hostile returns what scrubbers are known to choke on.
func Hostile() []HostileShape {
	encoded := strings.Repeat("order 1001 is late, ", 12)
	for range 4 {
		encoded = base64.StdEncoding.EncodeToString([]byte(encoded))
	}
	return []HostileShape{
		{Name: `members "k": "v"`, unit: `{"k": "v"},`, raw: true},
		{Name: `text "k": "v",`, unit: `"k": "v", `},
		{Name: "1.1.1.", unit: "1.1.1."},
		{Name: "nested quotes", unit: `\"{\"a\":`},
		{Name: "base64 of base64, four times", unit: encoded + " "},
		{Name: "4111 4111", unit: "4111 "},
		{Name: "PEM first lines", unit: "-----BEGIN " + "PRIVATE KEY-----"},
		{Name: "a@b.", unit: "a@b."},
		{Name: "a://b:c@", unit: "a://b:c@"},
		{Name: "password:\"", unit: `password:"`},
		{Name: "one secret, repeated", unit: `{"password":"aaaaaaaa","x":"aaaaaaaa"},`, raw: true},
		{Name: "eyJ", unit: "eyJ"},
		{Name: "%25", unit: "%25"},
		{Name: "[redacted", unit: "[redacted"},
	}
}

// Document returns a JSON document of about size bytes.
func (h HostileShape) Document(size int) []byte {
	body := strings.Repeat(h.unit, size/len(h.unit)+1)
	if h.raw {
		return []byte("[" + body + "0]")
	}
	return []byte(quote(body[:size]))
}
