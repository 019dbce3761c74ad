package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/handlers/webhook"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, payload, want string }{
		{"OK", `{"url":"https://shop.example/hooks","event":"order.paid","body":{}}`, ""},
		{"AnyBody", `{"url":"http://shop.example","event":"a","body":"text","timeout_seconds":300}`, ""},
		{"NullBody", `{"url":"http://shop.example","event":"a","body":null}`, ""},
		{"NoURL", `{"event":"a","body":1}`, `"url" is missing`},
		{"Scheme", `{"url":"ftp://canary.example","event":"a","body":1}`, `"url" has a scheme other than http and https`},
		{"Relative", `{"url":"canary/hooks","event":"a","body":1}`, `"url" has a scheme other than http and https`},
		{"NoHost", `{"url":"http://","event":"a","body":1}`, `"url" names no host`},
		{"Userinfo", `{"url":"http://user:canary@a.example","event":"a","body":1}`, `"url" holds a user or password, which is not allowed`},
		{"EmptyUserinfo", `{"url":"http://@a.example","event":"a","body":1}`, `"url" holds a user or password, which is not allowed`},
		{"NotAURL", `{"url":"http://canary\u0000","event":"a","body":1}`, `"url" is not a URL`},
		{"LongURL", `{"url":"http://` + strings.Repeat("canary", 400) + `","event":"a","body":1}`, `"url" is 2407 bytes, at most 2048 are allowed`},
		{"NoEvent", `{"url":"http://a.example","body":1}`, `"event" is missing`},
		{"EventWithNewline", `{"url":"http://a.example","event":"canary\nX: y","body":1}`, `"event" is not a name of at most 128`},
		{"LongEvent", `{"url":"http://a.example","event":"` + strings.Repeat("canary", 30) + `","body":1}`, `"event" is not a name of at most 128`},
		{"NoBody", `{"url":"http://a.example","event":"a"}`, `"body" is missing`},
		{"TimeoutZero", `{"url":"http://a.example","event":"a","body":1,"timeout_seconds":0}`, `"timeout_seconds" is 0, allowed are 1 to 300`},
		{"TimeoutTooLong", `{"url":"http://a.example","event":"a","body":1,"timeout_seconds":301}`, `"timeout_seconds" is 301, allowed are 1 to 300`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var d webhook.Delivery
			require.NoError(t, json.Unmarshal([]byte(c.payload), &d))
			err := d.Validate()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "canary")
		})
	}
}
