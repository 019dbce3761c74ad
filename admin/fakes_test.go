package admin_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// fakes stand behind the API: they record what they are asked and answer what they are told.
type fakes struct {
	letter  job.DeadLetter
	err     error // of every call
	queries []admin.Query

	started  []job.Envelope
	options  []starter.EnqueueOptions
	enqueued starter.Enqueued

	ids      []job.DeadLetterID
	sent     []job.Request
	kinds    []job.RequestKind
	decision job.Decision
	pending  bool
}

func (f *fakes) Ping(context.Context) error { return f.err }

func (f *fakes) DeadLetter(_ context.Context, id job.DeadLetterID) (job.DeadLetter, error) {
	if id != f.letter.ID {
		return job.DeadLetter{}, fmt.Errorf("dead letter %q: %w", id, job.ErrNotFound)
	}
	return f.letter, f.err
}

func (f *fakes) DeadLetters(_ context.Context, q admin.Query) (admin.Page, error) {
	f.queries = append(f.queries, q)
	if f.letter.ID == "" {
		return admin.Page{}, f.err
	}
	return admin.Page{Letters: []job.DeadLetter{f.letter}, Next: "next"}, f.err
}

func (f *fakes) Start(_ context.Context, e job.Envelope, o starter.EnqueueOptions) (starter.Enqueued, error) {
	f.started, f.options = append(f.started, e), append(f.options, o)
	return f.enqueued, f.err
}

func (f *fakes) Send(_ context.Context, id job.DeadLetterID, kind job.RequestKind, r job.Request) (string, error) {
	f.ids, f.sent, f.kinds = append(f.ids, id), append(f.sent, r), append(f.kinds, kind)
	return "req-1", f.err
}

func (f *fakes) Await(ctx context.Context, id job.DeadLetterID, _ job.RequestKind, _ string) (job.Decision, error) {
	f.ids = append(f.ids, id)
	if f.pending {
		<-ctx.Done()
		return job.Decision{}, ctx.Err()
	}
	return f.decision, nil
}

// client speaks to an API over fakes.
type client struct {
	t      *testing.T
	url    string
	header http.Header
	host   string
}

func newAPI(t *testing.T, f *fakes, change func(*admin.Options)) client {
	t.Helper()
	options := admin.Options{
		Store: f, Jobs: f, Requests: f, Temporal: func(context.Context) error { return nil },
		Listen: "127.0.0.1:0", DecisionWait: 50 * time.Millisecond, Version: "test",
	}
	if change != nil {
		change(&options)
	}
	handler, err := admin.New(options)
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return client{t: t, url: server.URL, header: http.Header{}}
}

// do returns status and body.
func (c client) do(method, path, body string) (int, string) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	request.Header = c.header.Clone()
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.host != "" {
		request.Host = c.host
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(c.t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(c.t, err)
	if answer.StatusCode >= 400 && answer.StatusCode != http.StatusServiceUnavailable {
		require.Equal(c.t, "application/problem+json", answer.Header.Get("Content-Type"), string(content))
	}
	return answer.StatusCode, string(content)
}
