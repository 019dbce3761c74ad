package store

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// Times are stored as microseconds since 1970, UTC: both databases sort and compare them alike.

func micros(t time.Time) int64 { return t.UnixMicro() }

func microsOrNull(t *time.Time) any {
	if t == nil || t.IsZero() {
		return nil
	}
	return micros(*t)
}

// instant scans microseconds.
type instant struct{ into *time.Time }

// Scan reads an integer.
func (i instant) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T, not as an integer", src)
	}
	*i.into = time.UnixMicro(n).UTC()
	return nil
}

// instantOrNull scans microseconds, or NULL as nil.
type instantOrNull struct{ into **time.Time }

// Scan reads an integer or NULL.
func (i instantOrNull) Scan(src any) error {
	if src == nil {
		*i.into = nil
		return nil
	}
	*i.into = new(time.Time)
	return instant{*i.into}.Scan(src)
}

// document is a value stored as JSON; nil slices, maps and pointers are NULL. To scan, it holds a pointer.
type document struct{ value any }

// Value encodes; NUL, which Postgres cannot read out of JSON as text, becomes U+FFFD as it does in plain text.
func (d document) Value() (driver.Value, error) {
	encoded, err := json.Marshal(d.value)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(encoded, []byte("null")) {
		return nil, nil
	}
	return string(withoutNUL(encoded)), nil
}

// withoutNUL replaces the escape \u0000, and knows \\u0000, which is a backslash and letters.
func withoutNUL(encoded []byte) []byte {
	for i := 0; i < len(encoded); i++ {
		if encoded[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(encoded[i:], []byte(`\u0000`)) {
			copy(encoded[i:], `\ufffd`)
		}
		i++
	}
	return encoded
}

// Scan decodes JSON text; NULL leaves the value as it was.
func (d document) Scan(src any) error {
	switch encoded := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(encoded), d.value)
	case []byte:
		return json.Unmarshal(encoded, d.value)
	default:
		return fmt.Errorf("JSON is stored as %T, not as text", src)
	}
}
