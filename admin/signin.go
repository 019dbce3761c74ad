package admin

import (
	"html/template"
	"net/http"
	"time"
)

// signInPage is a form, or what to do after it. It holds nothing that was sent.
var signInPage = template.Must(template.New("sign-in").Parse(`<!doctype html>
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>redrive codec</title>
<style>body{font:16px/1.5 system-ui;max-width:36rem;margin:10vh auto;padding:0 1rem}input{font:inherit;width:100%;margin:.5rem 0}</style>
{{if .Done}}<h1>Signed in</h1>
<p>This browser may decode payloads for twelve hours. In the Temporal Web UI, open the data encoder's settings (the glasses),
give this server's address followed by <code>/codec</code>, and include cross-origin credentials.</p>
{{else}}<h1>Decode payloads in the Temporal Web UI</h1>
{{if .Wrong}}<p role="alert">That is not the token.</p>{{end}}
<form method="post"><label>The admin API's token<input type="password" name="token" autocomplete="off" required autofocus></label>
<button>Sign in</button></form>{{end}}
`))

type signIn struct{ Done, Wrong bool }

// signInForm shows the form and takes it. It is reached without a credential: it is where one is given.
func (a *api) signInForm(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	page := signIn{}
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		page.Done = sameToken(r.PostFormValue("token"), a.Token)
		page.Wrong = !page.Done
	}
	switch {
	case page.Done:
		http.SetCookie(w, &http.Cookie{
			Name: sessionCookie, Value: a.session(time.Now().Add(sessionLifetime)), Path: "/codec", MaxAge: int(sessionLifetime.Seconds()),
			HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
		})
	case page.Wrong:
		w.WriteHeader(http.StatusUnauthorized)
	}
	_ = signInPage.Execute(w, page) // the browser went away
}
