package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
	"github.com/redrivehq/redrive/starter"
)

var emailID = job.KeyID{Type: "email.send", Key: "order-1"}

func TestHealth(t *testing.T) {
	t.Parallel()
	f := &fakes{}
	c := newAPI(t, f, nil)
	status, body := c.do("GET", "/healthz", "")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"status":"ok"}`, body)
	status, body = c.do("GET", "/readyz", "")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"status":"ok","checks":{"store":"ok","temporal":"ok"}}`, body)
	f.err = errors.New("dial postgres://u:canary@db")
	status, body = c.do("GET", "/readyz", "")
	require.Equal(t, 503, status)
	require.JSONEq(t, `{"status":"unready","checks":{"store":"unavailable","temporal":"ok"}}`, body)
	status, _ = c.do("GET", "/healthz", "")
	require.Equal(t, 200, status)
}

func TestStartJob(t *testing.T) {
	t.Parallel()
	const envelope = `{"type":"email.send","key":"order-1","payload":{"b":1.10,"a":[]},"tags":["x"],"delay":"15m","priority":2}`

	t.Run("Started", func(t *testing.T) {
		t.Parallel()
		f := &fakes{enqueued: starter.Enqueued{ID: emailID, RunID: "r", State: job.StateRunning, Warning: "no worker polls"}}
		status, body := newAPI(t, f, nil).do("POST", "/v1/jobs", envelope)
		require.Equal(t, 201, status, body)
		require.JSONEq(t, `{"id":{"type":"email.send","key":"order-1"},"workflow_id":"","run_id":"r","duplicate":false,`+
			`"state":"running","warning":"no worker polls"}`, body)
		require.JSONEq(t, `{"b":1.10,"a":[]}`, string(f.started[0].Payload))
		require.Contains(t, string(f.started[0].Payload), "1.10", "numbers keep their spelling")
		require.Equal(t, emailID, f.started[0].ID())
		require.Equal(t, starter.EnqueueOptions{Delay: 15 * time.Minute, Priority: 2}, f.options[0])
	})

	t.Run("Duplicate", func(t *testing.T) {
		t.Parallel()
		f := &fakes{enqueued: starter.Enqueued{ID: emailID, Duplicate: true, State: job.StateCompleted}}
		status, body := newAPI(t, f, nil).do("POST", "/v1/jobs", envelope)
		require.Equal(t, 200, status, body)
	})

	t.Run("Conflict", func(t *testing.T) {
		t.Parallel()
		f := &fakes{err: &starter.ConflictError{Existing: starter.Enqueued{ID: emailID, State: job.StateRunning}}}
		status, body := newAPI(t, f, nil).do("POST", "/v1/jobs", envelope)
		require.Equal(t, 409, status)
		require.Contains(t, body, `"code":"key_conflict"`)
		require.Contains(t, body, `"state":"running"`)
	})

	t.Run("NothingThatWasSentComesBack", func(t *testing.T) {
		t.Parallel()
		c := newAPI(t, &fakes{}, nil)
		for _, body := range []string{
			`{"type":"email.send","key":"k","payload":{"to":"canary"}`,
			`"canary"`,
			`{"type":"email.send","key":"k","payload":"canary","priority":"canary"}`,
			`{"type":"email.send","key":"k","payload":"canary","deadline":"canary"}`,
			`{"type":"email.send","key":"k","payload":"canary","delay":"canary"}`,
			`{"type":"email.send","payload":{"to":"canary"}}`,
			`canary`,
			`[{"payload":"canary"}]`,
			`{"type":{"payload":"canary"},"key":"k"}`,
		} {
			status, answer := c.do("POST", "/v1/jobs", body)
			require.GreaterOrEqual(t, status, 400, body)
			require.Less(t, status, 500, body)
			require.NotContains(t, answer, "canary", body)
			require.Contains(t, answer, `"code":"inv`, body)
		}
	})

	t.Run("TooLarge", func(t *testing.T) {
		t.Parallel()
		body := `{"type":"a","key":"k","payload":"` + strings.Repeat("x", job.MaxVaultBytes+70<<10) + `"}`
		status, answer := newAPI(t, &fakes{}, nil).do("POST", "/v1/jobs", body)
		require.Equal(t, 413, status, answer)
	})
}

func TestErrorTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{fmt.Errorf("x: %w", job.ErrInvalidKey), 400, "invalid_key"},
		{fmt.Errorf("x: %w", job.ErrInvalidEnvelope), 400, "invalid_envelope"},
		{fmt.Errorf("x: %w", starter.ErrInvalidOptions), 400, "invalid_options"},
		{fmt.Errorf("x: %w", replay.ErrInvalidRequest), 400, "invalid_request"},
		{fmt.Errorf("x: %w", admin.ErrInvalidQuery), 400, "invalid_query"},
		{fmt.Errorf("x: %w", job.ErrNotFound), 404, "not_found"},
		{context.DeadlineExceeded, 504, "timeout"},
		{errors.New("dial postgres://u:canary@db"), 503, "unavailable"},
	} {
		status, body := newAPI(t, &fakes{err: c.err}, nil).do("POST", "/v1/jobs", `{"type":"a","key":"k","payload":1}`)
		require.Equal(t, c.status, status, body)
		require.Contains(t, body, `"code":"`+c.code+`"`)
		require.NotContains(t, body, "canary")
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	f := &fakes{letter: job.DeadLetter{ID: "dl_1", KeyID: emailID, FailureRecord: job.FailureRecord{
		Class: job.ClassInvalidPayload, RedactedPayload: json.RawMessage(`{"to":"[redacted:email]","n":1.10}`),
	}}}
	c := newAPI(t, f, nil)

	status, body := c.do("GET", "/v1/dead-letters?state=dead_lettered&type=email.send&error_class=timeout&cause=poison"+
		"&fingerprint=ab&handler_version=v1&since=2026-05-01T12:00:00Z&limit=7&cursor=c", "")
	require.Equal(t, 200, status, body)
	require.Equal(t, admin.Query{
		State: "dead_lettered", Type: "email.send", Class: "timeout", Cause: "poison", Fingerprint: "ab", Version: "v1",
		Since: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), Limit: 7, Cursor: "c",
	}, f.queries[0])
	require.Contains(t, body, `"next":"next"`)

	status, body = c.do("GET", "/v1/dead-letters/dl_1", "")
	require.Equal(t, 200, status)
	var letter job.DeadLetter
	require.NoError(t, json.Unmarshal([]byte(body), &letter))
	require.Equal(t, f.letter, letter)

	status, body = c.do("GET", "/v1/dead-letters/dl_2", "")
	require.Equal(t, 404, status, body)
	status, body = c.do("GET", "/v1/dead-letters?limit=canary", "")
	require.Equal(t, 422, status, body)
	require.NotContains(t, body, "canary")

	_, body = newAPI(t, &fakes{}, nil).do("GET", "/v1/dead-letters", "")
	require.JSONEq(t, `{"dead_letters":[]}`, body)
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	status, body := newAPI(t, &fakes{}, nil).do("GET", "/openapi.json", "")
	require.Equal(t, 200, status)
	var document struct{ Paths map[string]any }
	require.NoError(t, json.Unmarshal([]byte(body), &document))
	for _, path := range []string{
		"/healthz", "/readyz", "/v1/jobs", "/v1/dead-letters", "/v1/dead-letters/{id}", "/v1/dead-letters/{id}/replay",
		"/v1/dead-letters/{id}/discard", "/v1/dead-letters/{id}/annotations",
	} {
		require.Contains(t, document.Paths, path)
	}
}
