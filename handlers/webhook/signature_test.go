package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/handlers/webhook"
)

// signed is a delivery as a receiver got it. The signature was computed with openssl from the documented scheme:
//
//	printf '1777636800\norder-1001.paid\norder.paid\n{"order":1001}' | openssl dgst -sha256 -hmac 'shared secret'
func signed() (http.Header, []byte) {
	header := http.Header{}
	header.Set("Idempotency-Key", "order-1001.paid")
	header.Set("Redrive-Event", "order.paid")
	header.Set("Redrive-Signature", "t=1777636800,v1=6f9ee7e99e96cd72ec6d77b6e41793b9f2f36fa853782aed20b2b446c19abb37")
	return header, []byte(`{"order":1001}`)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	at := time.Unix(1777636800, 0)
	verify := func(change func(http.Header, *[]byte), now time.Time) error {
		header, body := signed()
		change(header, &body)
		return webhook.Verify(secret, header, body, now, 5*time.Minute)
	}
	unchanged := func(http.Header, *[]byte) {}
	set := func(name, value string) func(http.Header, *[]byte) {
		return func(h http.Header, _ *[]byte) { h.Set(name, value) }
	}

	require.NoError(t, verify(unchanged, at))
	require.NoError(t, verify(unchanged, at.Add(4*time.Minute)))
	for name, err := range map[string]error{
		"old":        verify(unchanged, at.Add(6*time.Minute)),
		"future":     verify(unchanged, at.Add(-6*time.Minute)),
		"body":       verify(func(_ http.Header, b *[]byte) { *b = []byte(`{"order":1002}`) }, at),
		"key":        verify(set("Idempotency-Key", "other"), at),
		"event":      verify(set("Redrive-Event", "order.refunded"), at),
		"none":       verify(set("Redrive-Signature", ""), at),
		"not hex":    verify(set("Redrive-Signature", "t=1777636800,v1=zz"), at),
		"other time": verify(set("Redrive-Signature", "t=1777636801,v1=00"), at),
	} {
		require.ErrorIs(t, err, webhook.ErrSignature, name)
	}
	header, body := signed()
	require.ErrorIs(t, webhook.Verify([]byte("other"), header, body, at, time.Minute), webhook.ErrSignature)
}
