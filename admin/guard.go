package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"strings"

	"go.uber.org/zap"
)

// open are the paths that need no token: they show no data.
var open = map[string]bool{"/healthz": true, "/readyz": true, "/openapi.json": true}

// guard lets nobody in but those that the package comment names.
func (a *api) guard(next http.Handler) http.Handler {
	sameOrigin := http.NewCrossOriginProtection()
	want := sha256.Sum256([]byte(a.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		switch {
		case open[r.URL.Path]:
		case a.Token != "":
			given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			sum := sha256.Sum256([]byte(given)) // equal lengths: the comparison takes the same time for any token
			if !bearer || subtle.ConstantTimeCompare(sum[:], want[:]) != 1 {
				header.Set("WWW-Authenticate", `Bearer realm="redrive"`)
				refuse(w, http.StatusUnauthorized, "unauthorized", "a bearer token is needed, and the one given is not it")
				return
			}
		case !isLoopback(hostname(r.Host)):
			refuse(w, http.StatusForbidden, "foreign_host", "without a token the API answers to a loopback host name only")
			return
		case sameOrigin.Check(r) != nil:
			refuse(w, http.StatusForbidden, "foreign_origin", "without a token the API takes no requests from other origins")
			return
		}
		next.ServeHTTP(w, r)
	})
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
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(newProblem(status, code, detail))
}
