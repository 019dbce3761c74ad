package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

// eraser records what it is asked and answers what it is told.
type eraser struct {
	asked    []string
	requests []vault.ErasureRequest
	err      error
}

func (e *eraser) erased(what string, id job.KeyID, r vault.ErasureRequest) vault.ErasedJob {
	e.asked, e.requests = append(e.asked, what), append(e.requests, r)
	return vault.ErasedJob{ID: id, DeadLetterID: "dl_1", Erased: job.Erased{Payloads: 1, Records: 2, Results: 3}, Runs: 4, Err: e.err}
}

func (e *eraser) Job(_ context.Context, id job.KeyID, r vault.ErasureRequest) vault.ErasedJob {
	return e.erased("job "+id.String(), id, r)
}

func (e *eraser) DeadLetter(_ context.Context, id job.DeadLetterID, r vault.ErasureRequest) vault.ErasedJob {
	return e.erased("letter "+string(id), emailID, r)
}

func (e *eraser) Subject(_ context.Context, subject string, r vault.ErasureRequest) ([]vault.ErasedJob, error) {
	first := e.erased("subject "+subject, emailID, r)
	first.Err = fmt.Errorf("erase: %w", job.ErrJobOpen)
	return []vault.ErasedJob{first, e.erased("", emailID, r)}, e.err
}

func newErasingAPI(t *testing.T, e *eraser, token string) client {
	t.Helper()
	c := newAPI(t, &fakes{}, func(o *admin.Options) { o.Eraser, o.Token, o.PrivilegedToken = e, "ordinary", "privileged" })
	c.header.Set("Authorization", "Bearer "+token)
	return c
}

func TestPrivacyErase(t *testing.T) {
	t.Parallel()
	const one = `{"jobs":[{"id":{"type":"email.send","key":"order-1"},"dead_letter_id":"dl_1","payloads":1,"records":2,"results":3,"runs":4,"complete":true}]}`

	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		e := &eraser{}
		c := newErasingAPI(t, e, "privileged")
		status, body := c.do("POST", "/v1/dead-letters/dl_1/erase", `{"actor":"ada","reason":"request 7","cancel":true}`)
		require.Equal(t, 200, status, body)
		require.JSONEq(t, one, body)
		status, body = c.do("POST", "/v1/erase", `{"type":"email.send","key":"order-1","reason":"request 7"}`)
		require.Equal(t, 200, status, body)
		require.JSONEq(t, one, body)
		require.Equal(t, []string{"letter dl_1", "job email.send:order-1"}, e.asked)
		request := e.requests[0]
		require.WithinDuration(t, time.Now(), request.At, time.Minute)
		require.Equal(t, vault.ErasureRequest{
			Erasure: job.Erasure{At: request.At, Credential: "privileged_token", Actor: "ada", Reason: "request 7"}, Cancel: true, From: "127.0.0.1",
		}, request)
	})
	t.Run("SubjectReportsEachJob", func(t *testing.T) {
		t.Parallel()
		status, body := newErasingAPI(t, &eraser{}, "privileged").do("POST", "/v1/erase", `{"subject":"user-77","reason":"why"}`)
		require.Equal(t, 200, status, body)
		var answer struct {
			Jobs []struct {
				Complete bool
				Code     string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		require.Len(t, answer.Jobs, 2)
		require.False(t, answer.Jobs[0].Complete)
		require.Equal(t, "job_open", answer.Jobs[0].Code)
		require.True(t, answer.Jobs[1].Complete)
	})
	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		for _, test := range []struct {
			token, path, body string
			err               error
			status            int
			code              string
		}{
			{"ordinary", "/v1/erase", `{"subject":"u","reason":"why"}`, nil, 403, "not_privileged"},
			{"ordinary", "/v1/dead-letters/dl_1/erase", `{"reason":"why"}`, nil, 403, "not_privileged"},
			{"wrong", "/v1/erase", `{"subject":"u","reason":"why"}`, nil, 401, "unauthorized"},
			{"privileged", "/v1/erase", `{"reason":"why"}`, nil, 400, "invalid_request"},
			{"privileged", "/v1/erase", `{"subject":"u","type":"a","key":"b","reason":"why"}`, nil, 400, "invalid_request"},
			{"privileged", "/v1/erase", `{"type":"a","reason":"why"}`, nil, 400, "invalid_key"},
			{"privileged", "/v1/erase", `{"subject":"u"}`, nil, 422, "invalid_input"},
			{"privileged", "/v1/erase", `{"subject":"u","reason":"x"}`, fmt.Errorf("%w: long", vault.ErrInvalidErasure), 400, "invalid_request"},
			{"privileged", "/v1/dead-letters/dl_1/erase", `{"reason":"why"}`, fmt.Errorf("x: %w", job.ErrJobOpen), 409, "job_open"},
			{"privileged", "/v1/dead-letters/dl_1/erase", `{"reason":"why"}`, fmt.Errorf("x: %w", job.ErrNotFound), 404, "not_found"},
			{"privileged", "/v1/dead-letters/dl_1/erase", `{"reason":"why"}`, errors.New("dial: canary"), 503, "unavailable"},
		} {
			e := &eraser{err: test.err}
			status, body := newErasingAPI(t, e, test.token).do("POST", test.path, test.body)
			require.Equal(t, test.status, status, test.body+body)
			require.Contains(t, body, `"code":"`+test.code+`"`)
			require.NotContains(t, body, "canary")
			require.Equal(t, test.err != nil, len(e.asked) > 0, test.body)
		}
	})
	t.Run("LoopbackWithoutTokensMay", func(t *testing.T) {
		t.Parallel()
		e := &eraser{}
		c := newAPI(t, &fakes{}, func(o *admin.Options) { o.Eraser = e })
		status, body := c.do("POST", "/v1/dead-letters/dl_1/erase", `{"reason":"why"}`)
		require.Equal(t, 200, status, body)
		require.Equal(t, "loopback", e.requests[0].Credential)
	})
}
