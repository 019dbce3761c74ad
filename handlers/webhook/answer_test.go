package webhook_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/handlers/webhook"
	"github.com/redrivehq/redrive/job"
)

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	const tail = "/canary-path?token=canary-query"

	t.Run("NothingListens", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		address := listener.Addr().String()
		require.NoError(t, listener.Close())
		_, err = webhook.New(webhook.Options{}).Deliver(attempt(t), delivery("http://u:canary@"+address+tail))
		requireDown(t, err, "POST to "+address+": no connection")
	})

	t.Run("NotHTTP", func(t *testing.T) {
		t.Parallel()
		url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(connection, "canary-answer that is no HTTP\r\n\r\n")
				_ = connection.Close()
			}
		})
		_, err := webhook.New(webhook.Options{}).Deliver(attempt(t), delivery(url+tail))
		requireDown(t, err, "the connection broke before an answer")
	})

	t.Run("TooSlow", func(t *testing.T) {
		t.Parallel()
		url := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		})
		slow := delivery(url + tail)
		one := 1
		slow.TimeoutSeconds = &one
		_, err := webhook.New(webhook.Options{}).Deliver(attempt(t), slow)
		requireDown(t, err, "no answer within 1s")
	})

	t.Run("AttemptCanceled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(attempt(t))
		url := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		})
		_, err := webhook.New(webhook.Options{}).Deliver(ctx, delivery(url+tail))
		require.ErrorIs(t, err, context.Canceled)
		require.NotContains(t, err.Error(), "canary")
	})

	t.Run("NoSuchHost", func(t *testing.T) {
		t.Parallel()
		_, err := webhook.New(webhook.Options{Transport: failing{&net.DNSError{IsNotFound: true, Name: "x"}}}).
			Deliver(attempt(t), delivery("http://shop.invalid"+tail))
		requireDown(t, err, "POST to shop.invalid: there is no such host")
	})
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func requireDown(t *testing.T, err error, text string) {
	t.Helper()
	class, _ := job.Classify(err, nil)
	require.Equal(t, job.ClassDependencyDown, class)
	require.ErrorContains(t, err, text)
	require.NotContains(t, err.Error(), "canary")
}
