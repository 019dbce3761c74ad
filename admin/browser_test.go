package admin_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/admin"
)

// ask sends a request as a browser does and returns the answer's headers.
func (c codecAPI) ask(method, path string, header map[string]string) (int, http.Header, string) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(`{"payloads":[]}`))
	require.NoError(c.t, err)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(c.t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(c.t, err)
	return answer.StatusCode, answer.Header, string(content)
}

func TestPrivacyCodecCORS(t *testing.T) {
	t.Parallel()
	c := newCodecAPI(t, nil)
	preflight := map[string]string{
		"Origin": uiOrigin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type,x-namespace",
	}
	t.Run("Preflight", func(t *testing.T) {
		t.Parallel()
		status, header, _ := c.ask("OPTIONS", "/codec/decode", preflight)
		require.Equal(t, 204, status)
		require.Equal(t, uiOrigin, header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "true", header.Get("Access-Control-Allow-Credentials"))
		require.Contains(t, header.Get("Access-Control-Allow-Methods"), "POST")
		for _, name := range []string{"Authorization", "Content-Type", "X-Namespace"} {
			require.Contains(t, header.Get("Access-Control-Allow-Headers"), name)
		}
		require.Equal(t, "Origin", header.Get("Vary"))
	})
	t.Run("Request", func(t *testing.T) {
		t.Parallel()
		status, header, answer := c.ask("POST", "/codec/decode", map[string]string{"Origin": uiOrigin, "Authorization": "Bearer ordinary"})
		require.Equal(t, 200, status, answer)
		require.Equal(t, uiOrigin, header.Get("Access-Control-Allow-Origin"))
	})
	t.Run("NoToken", func(t *testing.T) {
		t.Parallel()
		status, header, _ := c.ask("POST", "/codec/decode", map[string]string{"Origin": uiOrigin})
		require.Equal(t, 401, status)
		require.Equal(t, uiOrigin, header.Get("Access-Control-Allow-Origin"), "the UI may read why")
	})
	t.Run("OtherOrigins", func(t *testing.T) {
		t.Parallel()
		for _, origin := range []string{"https://evil.example", "null", uiOrigin + ".evil.example", "http://temporal.example.com", uiOrigin + ":8080", "*"} {
			status, header, _ := c.ask("OPTIONS", "/codec/decode", map[string]string{"Origin": origin, "Access-Control-Request-Method": "POST"})
			require.Equal(t, 401, status, origin)
			require.Empty(t, header.Get("Access-Control-Allow-Origin"), origin)
			require.Empty(t, header.Get("Access-Control-Allow-Credentials"), origin)
		}
	})
	t.Run("OtherPaths", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/v1/dead-letters", "/v1/jobs", "/codec/session", "/metrics"} {
			_, header, _ := c.ask("OPTIONS", path, preflight)
			require.Empty(t, header.Get("Access-Control-Allow-Origin"), path)
		}
	})
	t.Run("LoopbackWithoutTokens", func(t *testing.T) {
		t.Parallel()
		open := newCodecAPI(t, func(o *admin.Options) { o.Token, o.PrivilegedToken = "", "" })
		status, _, answer := open.ask("POST", "/codec/decode", map[string]string{"Origin": uiOrigin})
		require.Equal(t, 200, status, answer)
		status, _, _ = open.ask("POST", "/codec/decode", map[string]string{"Origin": "https://evil.example"})
		require.Equal(t, 403, status)
		status, _, _ = open.ask("POST", "/v1/jobs", map[string]string{"Origin": uiOrigin})
		require.Equal(t, 403, status, "the origin is the codec's alone")
	})
}

func TestPrivacyCodecSession(t *testing.T) {
	t.Parallel()
	c := newCodecAPI(t, nil)
	signIn := func(token string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), "POST", c.url+"/codec/session", strings.NewReader(url.Values{"token": {token}}.Encode()))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		content, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.False(t, bytes.Contains(content, []byte("canary")))
		return answer
	}
	refused := signIn("canary")
	require.Equal(t, 401, refused.StatusCode)
	require.Empty(t, refused.Cookies())
	require.Empty(t, signIn("").Cookies())

	cookie := signIn("ordinary").Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.Equal(t, "/codec", cookie.Path)
	pair := cookie.Name + "=" + cookie.Value

	status, _, answer := c.ask("POST", "/codec/decode", map[string]string{"Origin": uiOrigin, "Cookie": pair})
	require.Equal(t, 200, status, answer)
	for name, header := range map[string]map[string]string{
		"ForeignOrigin": {"Origin": "https://evil.example", "Cookie": pair},
		"Changed":       {"Origin": uiOrigin, "Cookie": pair[:len(pair)-2] + "AA"},
		"Longer":        {"Origin": uiOrigin, "Cookie": strings.Replace(pair, "=1", "=2", 1)},
		"Ended":         {"Origin": uiOrigin, "Cookie": cookie.Name + "=0." + strings.Split(cookie.Value, ".")[1]},
		"Garbage":       {"Origin": uiOrigin, "Cookie": cookie.Name + "=" + base64.StdEncoding.EncodeToString([]byte("x"))},
	} {
		status, _, _ := c.ask("POST", "/codec/decode", header)
		require.Equal(t, 401, status, name)
	}
	status, _, _ = c.ask("GET", "/v1/dead-letters", map[string]string{"Cookie": pair})
	require.Equal(t, 401, status, "the cookie is the codec endpoint's alone")
	status, _, _ = c.ask("POST", "/codec/decode?view=full&reason=why", map[string]string{"Origin": uiOrigin, "Cookie": pair})
	require.Equal(t, 403, status, "and shows redacted payloads only")
	other := newCodecAPI(t, func(o *admin.Options) { o.Token = "rotated" })
	status, _, _ = other.ask("POST", "/codec/decode", map[string]string{"Origin": uiOrigin, "Cookie": pair})
	require.Equal(t, 401, status, "a new token ends all sessions")
}
