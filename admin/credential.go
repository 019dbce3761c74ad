package admin

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// credential is what let a request in. The audit log names it.
type credential string

// The credentials.
const (
	credentialNone       credential = ""
	credentialLoopback   credential = "loopback" // no token is configured, and the address is out of reach for others
	credentialToken      credential = "token"
	credentialPrivileged credential = "privileged_token"
	credentialSession    credential = "codec_session" // a browser that signed in with the token; for the codec endpoint only
)

type credentialKey struct{}

// credentialOf is what guard let the request in with.
func credentialOf(ctx context.Context) credential {
	c, _ := ctx.Value(credentialKey{}).(credential)
	return c
}

// mayErase tells whether the credential may erase: the privileged token, or, where no token is configured, every account of
// the machine.
func (c credential) mayErase() bool { return c == credentialPrivileged || c == credentialLoopback }

// bearer returns the credential that the Authorization header proves. Both comparisons are always made, and take the same
// time for any token.
func (a *api) bearer(r *http.Request) credential {
	given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	ordinary, privileged := sameToken(given, a.Token), sameToken(given, a.PrivilegedToken)
	switch {
	case !isBearer:
		return credentialNone
	case privileged:
		return credentialPrivileged
	case ordinary:
		return credentialToken
	}
	return credentialNone
}

// sameToken compares digests, which are of equal length. No token is never the same.
func sameToken(given, want string) bool {
	g, w := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(g[:], w[:]) == 1 && want != ""
}

// A browser cannot send a bearer token of its own accord, and the Temporal Web UI sends only one that it got from its own
// sign-in. So a browser signs in here, and gets a cookie that is good for the codec endpoint alone.
const (
	sessionCookie   = "redrive_codec"
	sessionLifetime = 12 * time.Hour
)

// session returns the cookie's value: when it ends, and a proof that whoever made it knew the token.
func (a *api) session(until time.Time) string {
	end := strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, []byte("redrive codec session v1\x00"+a.Token))
	mac.Write([]byte(end)) // never fails
	return end + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signedIn tells whether the request carries a session that has not ended.
func (a *api) signedIn(r *http.Request, now time.Time) bool {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || a.Token == "" {
		return false
	}
	end, _, _ := strings.Cut(cookie.Value, ".")
	seconds, err := strconv.ParseInt(end, 10, 64)
	until := time.Unix(seconds, 0)
	return err == nil && hmac.Equal([]byte(cookie.Value), []byte(a.session(until))) && now.Before(until)
}
