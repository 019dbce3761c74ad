package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrSignature is wrapped by every refusal of Verify.
var ErrSignature = errors.New("webhook signature refused")

// sign returns the value of Redrive-Signature; the package comment documents the scheme.
func sign(secret []byte, at time.Time, key, event string, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, key, event, body))
}

func mac(secret []byte, t, key, event string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "%s\n%s\n%s\n%s", t, key, event, body)
	return h.Sum(nil)
}

// Verify is for receivers: it checks the headers and the body of a delivery against the shared secret, and that it was
// signed within tolerance of now. The error wraps ErrSignature.
func Verify(secret []byte, header http.Header, body []byte, now time.Time, tolerance time.Duration) error {
	var t, v1 string
	for part := range strings.SplitSeq(header.Get(HeaderSignature), ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			t = value
		case "v1":
			v1 = value
		}
	}
	given, err := hex.DecodeString(v1)
	if err != nil || len(given) == 0 {
		return fmt.Errorf("%w: no v1 signature in %s", ErrSignature, HeaderSignature)
	}
	want := mac(secret, t, header.Get(HeaderKey), header.Get(HeaderEvent), body)
	if !hmac.Equal(given, want) {
		return fmt.Errorf("%w: it does not match", ErrSignature)
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: no time in %s", ErrSignature, HeaderSignature)
	}
	if age := now.Sub(time.Unix(seconds, 0)).Abs(); age > tolerance {
		return fmt.Errorf("%w: signed %s away from now, at most %s are allowed", ErrSignature, age, tolerance)
	}
	return nil
}
