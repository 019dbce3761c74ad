package redaction_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/redaction/measure"
)

const benchSize = 64 << 10

// BenchmarkTokenCopy is what the other figures are set against: the same document read and written by jsontext, token by
// token, with nothing done to it.
func BenchmarkTokenCopy(b *testing.B) {
	in := measure.Benign(benchSize)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		decoder, encoder := jsontext.NewDecoder(bytes.NewBuffer(in)), jsontext.NewEncoder(&out)
		for {
			token, err := decoder.ReadToken()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = encoder.WriteToken(token)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPayload(b *testing.B) {
	for name, in := range map[string][]byte{"Benign64K": measure.Benign(benchSize), "Sensitive64K": measure.Sensitive(benchSize), "Sensitive4K": measure.Sensitive(4 << 10)} {
		b.Run(name, func(b *testing.B) { benchPayload(b, in) })
	}
}

func benchPayload(b *testing.B, in []byte) {
	r := newRedactor(b, redaction.Policy{MaxBytes: 1 << 30})
	require.False(b, r.Payload(in).Report.Withheld, r.Payload(in).Report.Reason)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r.Payload(in)
	}
}

// BenchmarkText is the error of a job whose payload is the sensitive one.
func BenchmarkText(b *testing.B) {
	r := newRedactor(b, redaction.Policy{})
	payload := measure.Sensitive(4 << 10)
	taint := r.Taint(payload)
	text := "dial tcp 10.0.0.7:5432: connect: connection refused\n" + string(payload[:1024]) + strings.Repeat("\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:42 +0x1d", 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Text(text, taint)
	}
}

// BenchmarkHostile shows that the cost of a byte does not grow with the document, whatever it says.
func BenchmarkHostile(b *testing.B) {
	nested := strings.Repeat("token=abcdefgh ", 64)
	for range 4 {
		nested = base64.StdEncoding.EncodeToString([]byte(nested))
	}
	for _, c := range []struct{ name, unit string }{
		{"Pairs", `"k": "v", `},
		{"Dots", "1.1.1."},
		{"Quotes", `\"{\"a\":`},
		{"Base64", nested + " "},
		{"Cards", "4111 "},
		{"PEM", "-----BEGIN PRIVATE KEY-----"},
		{"Ats", "a@b."},
		{"URLs", "a://b:c@"},
	} {
		for _, size := range []int{64 << 10, 256 << 10, 1 << 20, 2 << 20} {
			b.Run(fmt.Sprintf("%s/%dK", c.name, size>>10), func(b *testing.B) {
				in := []byte(quote(strings.Repeat(c.unit, size/len(c.unit)+1)[:size]))
				r := newRedactor(b, redaction.Policy{MaxBytes: 1 << 30, MaxDecode: 1 << 30})
				b.SetBytes(int64(size))
				for b.Loop() {
					r.Payload(in)
				}
			})
		}
	}
}
