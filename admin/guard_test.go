package admin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/admin"
)

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	f := &fakes{}
	complete := admin.Options{Store: f, Jobs: f, Requests: f, Temporal: func(context.Context) error { return nil }}
	for _, listen := range []string{"", ":8080", "0.0.0.0:8080", "[::]:8080", "10.0.0.1:80", "example.com:80"} {
		complete.Listen = listen
		_, err := admin.New(complete)
		require.ErrorIs(t, err, admin.ErrInvalidOptions, listen)
	}
	complete.Token = "secret"
	_, err := admin.New(complete)
	require.NoError(t, err)
	_, err = admin.New(admin.Options{Listen: "127.0.0.1:80"})
	require.ErrorIs(t, err, admin.ErrInvalidOptions)
}

func TestToken(t *testing.T) {
	t.Parallel()
	c := newAPI(t, &fakes{}, func(o *admin.Options) { o.Token, o.Listen = "right", "0.0.0.0:0" })
	for _, path := range []string{"/v1/dead-letters", "/v1/jobs", "/nothing"} {
		for _, header := range []string{"", "Bearer wrong", "Bearer", "Basic right", "right "} {
			c.header.Set("Authorization", header)
			status, body := c.do("GET", path, "")
			require.Equal(t, 401, status, path+" "+header)
			require.NotContains(t, body, "wrong")
		}
	}
	c.header.Set("Authorization", "Bearer right")
	c.host = "admin.example.com"
	status, _ := c.do("GET", "/v1/dead-letters", "")
	require.Equal(t, 200, status)

	c.header.Del("Authorization")
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		status, _ := c.do("GET", path, "")
		require.Equal(t, 200, status, path)
	}
}

// TestBrowsers are the two ways a page from elsewhere gets at a port on loopback.
func TestBrowsers(t *testing.T) {
	t.Parallel()

	t.Run("Rebinding", func(t *testing.T) {
		t.Parallel()
		c := newAPI(t, &fakes{}, nil)
		for host, want := range map[string]int{
			"localhost:8080": 200, "127.0.0.1:8080": 200, "[::1]:8080": 200, "localhost": 200,
			"evil.example:8080": 403, "127.0.0.1.evil.example": 403, "evil.example": 403,
		} {
			c.host = host
			status, _ := c.do("GET", "/v1/dead-letters", "")
			require.Equal(t, want, status, host)
		}
	})

	t.Run("ForeignOrigin", func(t *testing.T) {
		t.Parallel()
		f := &fakes{}
		c := newAPI(t, f, nil)
		c.header.Set("Origin", "https://evil.example")
		status, _ := c.do("POST", "/v1/jobs", `{"type":"a","key":"k","payload":1}`)
		require.Equal(t, 403, status)
		c.header.Set("Origin", "null")
		status, _ = c.do("POST", "/v1/dead-letters/dl_1/replay", `{"actor":"a","reason":"r"}`)
		require.Equal(t, 403, status)
		c.header.Del("Origin")
		c.header.Set("Sec-Fetch-Site", "cross-site")
		status, _ = c.do("POST", "/v1/jobs", `{"type":"a","key":"k","payload":1}`)
		require.Equal(t, 403, status)
		require.Empty(t, f.started)
		require.Empty(t, f.sent)
	})

	t.Run("SameOrigin", func(t *testing.T) {
		t.Parallel()
		f := &fakes{}
		c := newAPI(t, f, nil)
		c.header.Set("Origin", c.url)
		status, body := c.do("POST", "/v1/jobs", `{"type":"a","key":"k","payload":1}`)
		require.Equal(t, 201, status, body)
	})
}
