package admin

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// open are the paths that need no credential: they show no data.
var open = map[string]bool{"/healthz": true, "/readyz": true, "/openapi.json": true, signInPath: true}

// guard lets nobody in but those that the package comment names.
func (a *api) guard(next http.Handler) http.Handler {
	sameOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		shared := a.isCodec(r.URL.Path) && a.fromCodecOrigin(w, r)
		if shared && r.Method == http.MethodOptions { // a preflight, which carries no credential
			w.WriteHeader(http.StatusNoContent)
			return
		}
		given := a.bearer(r)
		switch {
		case given != credentialNone || open[r.URL.Path]:
		case a.isCodec(r.URL.Path) && a.signedIn(r, time.Now()) && (shared || sameOrigin.Check(r) == nil):
			given = credentialSession
		case a.Token != "" || r.Header.Get("Authorization") != "" && a.PrivilegedToken != "":
			header.Set("WWW-Authenticate", `Bearer realm="redrive"`)
			refuse(w, http.StatusUnauthorized, "unauthorized", "a bearer token is needed, and the one given is not it")
			return
		case !isLoopback(hostname(r.Host)):
			refuse(w, http.StatusForbidden, "foreign_host", "without a token the API answers to a loopback host name only")
			return
		case !shared && sameOrigin.Check(r) != nil:
			refuse(w, http.StatusForbidden, "foreign_origin", "without a token the API takes no requests from other origins")
			return
		default:
			given = credentialLoopback
		}
		ctx := context.WithValue(r.Context(), credentialKey{}, given)
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, callerKey{}, from(r))))
	})
}

func (a *api) isCodec(path string) bool {
	return a.Codec != nil && (path == decodePath || path == encodePath)
}

// fromCodecOrigin tells whether a page of an allowed origin asks, and then lets its browser show it the answer. Exact
// origins, never *: the browser sends a cookie along.
func (a *api) fromCodecOrigin(w http.ResponseWriter, r *http.Request) bool {
	header, origin := w.Header(), r.Header.Get("Origin")
	header.Add("Vary", "Origin")
	if origin == "" || !slices.Contains(a.CodecOrigins, origin) {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Allow-Credentials", "true")
	header.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
	header.Set("Access-Control-Allow-Headers", "Authorization, Authorization-Extras, Content-Type, X-Namespace")
	header.Set("Access-Control-Max-Age", "600")
	return true
}

// isOrigin tells whether text is what a browser sends as Origin: scheme, host and perhaps a port, and nothing behind them.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.Scheme+"://"+u.Host == text &&
		text == strings.ToLower(text)
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// bounded limits a request's time, and turns a panic into an answer without its value.
func (a *api) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), a.Timeout)
		defer cancel()
		defer func() {
			if recover() != nil { // the value may hold what was sent
				a.Logger.Error("admin request panicked", zap.String("path", r.Pattern))
				refuse(w, http.StatusInternalServerError, "internal", "the request could not be handled")
			}
		}()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuse answers before huma is asked.
func refuse(w http.ResponseWriter, status int, code, detail string) {
	answer(w, newProblem(status, code, detail))
}

func answer(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client went away
}
