package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/handlers/webhook"
	"github.com/redrivehq/redrive/job"
)

const body = `{ "order": 1001,  "total": "12.50" }`

var secret = []byte("shared secret")

// attempt is the context a handler runs in.
func attempt(t *testing.T) context.Context {
	return job.WithAttempt(t.Context(), job.AttemptInfo{ID: job.KeyID{Type: webhook.Type, Key: "order-1001.paid"}})
}

func delivery(url string) webhook.Delivery {
	return webhook.Delivery{URL: url, Event: "order.paid", Body: json.RawMessage(body)}
}

// receiver answers every POST with answer.
func receiver(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var gotBody []byte
	url := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		gotBody, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
	})

	result, err := webhook.New(webhook.Options{Secret: secret}).Deliver(attempt(t), delivery(url+"/hooks?a=b"))
	require.NoError(t, err)
	require.Equal(t, webhook.Result{Status: 202}, result)
	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, "/hooks?a=b", got.URL.String())
	require.Equal(t, body, string(gotBody), "the body is sent byte for byte")
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "order-1001.paid", got.Header.Get("Idempotency-Key"))
	require.Equal(t, "order.paid", got.Header.Get("Redrive-Event"))
	require.NoError(t, webhook.Verify(secret, got.Header, gotBody, time.Now(), time.Minute))
}

func TestUnsigned(t *testing.T) {
	t.Parallel()
	var got http.Header
	url := receiver(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	_, err := webhook.New(webhook.Options{}).Deliver(attempt(t), delivery(url))
	require.NoError(t, err)
	require.Empty(t, got.Get("Redrive-Signature"))
	require.ErrorIs(t, webhook.Verify(nil, got, []byte(body), time.Now(), time.Minute), webhook.ErrSignature)
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		status     int
		retryAfter string
		class      job.Class
		wait       time.Duration
	}{
		{status: 408, class: job.ClassThrottled},
		{status: 425, class: job.ClassThrottled},
		{status: 429, class: job.ClassThrottled},
		{status: 429, retryAfter: "17", class: job.ClassThrottled, wait: 17 * time.Second},
		{status: 429, retryAfter: "Fri, 01 May 2026 12:02:00 GMT", class: job.ClassThrottled, wait: 2 * time.Minute},
		{status: 429, retryAfter: "Fri, 01 May 2026 11:00:00 GMT", class: job.ClassThrottled},
		{status: 429, retryAfter: "Fri, 01 May 2099 11:00:00 GMT", class: job.ClassThrottled, wait: webhook.MaxRetryAfter},
		{status: 429, retryAfter: "86400", class: job.ClassThrottled, wait: webhook.MaxRetryAfter},
		{status: 429, retryAfter: "99999999999999999999", class: job.ClassThrottled, wait: webhook.MaxRetryAfter},
		{status: 429, retryAfter: "-5", class: job.ClassThrottled},
		{status: 429, retryAfter: "soon", class: job.ClassThrottled},
		{status: 500, class: job.ClassDependencyDown},
		{status: 503, retryAfter: "17", class: job.ClassDependencyDown},
		{status: 302, class: job.ClassRejected},
		{status: 304, class: job.ClassRejected},
		{status: 400, class: job.ClassRejected},
		{status: 404, class: job.ClassRejected},
		{status: 410, class: job.ClassRejected},
		{status: 422, class: job.ClassRejected},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d %s", c.status, c.retryAfter), func(t *testing.T) {
			t.Parallel()
			url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				if c.retryAfter != "" {
					w.Header().Set("Retry-After", c.retryAfter)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, "canary-answer")
			})
			sender := webhook.New(webhook.Options{Now: func() time.Time { return now }})
			withSecrets := strings.Replace(url, "http://", "http://user:canary-user@", 1) + "/canary-path?token=canary-query"
			_, err := sender.Deliver(attempt(t), delivery(withSecrets))
			class, wait := job.Classify(err, nil)
			require.Equal(t, c.class, class)
			require.Equal(t, c.wait, wait)
			require.ErrorContains(t, err, fmt.Sprintf("was answered %d", c.status))
			require.NotContains(t, err.Error(), "canary")
		})
	}
}

// TestAnswerIsReadInBounds sends an answer without end: the status is the verdict all the same.
func TestAnswerIsReadInBounds(t *testing.T) {
	t.Parallel()
	url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	})
	result, err := webhook.New(webhook.Options{}).Deliver(attempt(t), delivery(url))
	require.NoError(t, err)
	require.Equal(t, webhook.Result{Status: 200}, result)
}

func TestOutsideAnAttempt(t *testing.T) {
	t.Parallel()
	_, err := webhook.New(webhook.Options{}).Deliver(t.Context(), delivery("http://127.0.0.1:1"))
	var classified *job.Error
	require.True(t, errors.As(err, &classified))
	require.Equal(t, job.ClassHandlerDefect, classified.Class)
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	definition := webhook.Definition("payments").WithDefaults()
	require.NoError(t, definition.Validate())
	require.Greater(t, definition.Policy.Timeout, webhook.MaxTimeoutSeconds*time.Second)
}
