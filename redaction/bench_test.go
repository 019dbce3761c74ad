package redaction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redrivehq/redrive/redaction"
)

// BenchmarkPayload64K is an order with many lines, one of them with something to remove in sixteen.
func BenchmarkPayload64K(b *testing.B) {
	var lines []string
	for i := 0; len(strings.Join(lines, ",")) < 64<<10; i++ {
		note := "left at the door, second floor"
		if i%16 == 0 {
			note = fmt.Sprintf("mail ann%d@corp.example", i)
		}
		lines = append(lines, fmt.Sprintf(`{"sku":"A-%06d","quantity":%d,"price":%d.10,"created_at":"2026-12-01T08:00:00Z","note":%q}`, i, i%7, i, note))
	}
	in := []byte(`{"id":"order-1001","password":"hunter2!","lines":[` + strings.Join(lines, ",") + `]}`)
	r := newRedactor(b, redaction.Policy{})
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r.Payload(in)
	}
}
