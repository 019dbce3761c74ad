package integration_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redrivehq/redrive/admin"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/telemetry"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// secrets is a payload with a secret; where the handler lets it out is how.
type secrets struct {
	How      string `json:"how"`
	Password string `json:"password"`
}

// ways are the places where a handler may let a secret out. Each has a canary of its own, so that a hit says whose it is.
func ways() []string {
	return []string{"message", "cause", "joined", "type", "details", "panic", "stack", "heartbeat", "retry", "result"}
}

func canaryOf(way string) string { return "wryneck-" + way + "-58213-canary" }

// careless lets its secret out wherever how says.
func careless(ctx context.Context, s secrets) (any, error) {
	secret := s.Password
	switch s.How {
	case "cause":
		return nil, job.InvalidPayload(fmt.Errorf("refused: %w", errors.New("because of "+secret)))
	case "joined":
		return nil, job.InvalidPayload(errors.Join(errors.New("two things"), errors.New("and "+secret)))
	case "type":
		return nil, temporal.NewNonRetryableApplicationError("refused", secret, errors.New(secret))
	case "details":
		return nil, temporal.NewNonRetryableApplicationError("refused", "Refused", nil, secret, map[string]string{secret: secret})
	case "panic":
		panic(fmt.Sprintf("cannot go on with %s", secret))
	case "stack":
		deeper(secret)
	case "heartbeat":
		activity.RecordHeartbeat(ctx, secret)
		return nil, job.InvalidPayload(errors.New("gave up on " + secret))
	case "retry":
		if activity.GetInfo(ctx).Attempt == 1 {
			activity.RecordHeartbeat(ctx, secret)
			return nil, errors.New("not yet, says " + secret)
		}
		return map[string]string{"did": secret}, nil
	case "result":
		return map[string]string{"did": secret}, nil
	}
	return nil, job.InvalidPayload(errors.New("no account for " + secret))
}

func deeper(secret string) {
	var none []string
	none[len(secret)] = secret // panics
}

// watched is a stack that keeps all that it writes about itself.
type watched struct {
	*stack
	log     *lockedBuffer
	metrics *telemetry.Metrics
	page    http.Handler
	admin   *httptest.Server
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newWatched(t *testing.T, open opener, rules redaction.Policy) *watched {
	t.Helper()
	w := &watched{stack: newStack(t, open), log: &lockedBuffer{}}
	policy := quick()
	policy.Redaction = rules
	w.policies = job.Policies{Default: policy, ByType: map[job.Type]job.Policy{"login.check": policy}} // over the definition's own
	logger, err := telemetry.NewLogger(w.log, "debug", "json")
	require.NoError(t, err)
	w.client, err = worker.Dial(t.Context(), vault.Protect(client.Options{
		HostPort: w.address, Namespace: w.namespace, Logger: telemetry.Temporal(logger),
	}, w.keys))
	require.NoError(t, err)
	t.Cleanup(w.client.Close)
	provider, page, err := telemetry.NewPrometheus()
	require.NoError(t, err)
	w.metrics, err = telemetry.NewMetrics(provider)
	require.NoError(t, err)
	w.page = page
	w.starter = starter.New(w.client, starter.Options{DataConverter: w.client.DataConverter(), Vault: w.vault, Logger: logger})
	handler, err := admin.New(admin.Options{
		Store: lettersOnly{w.stack}, Jobs: w.starter, Requests: w.replay, Temporal: func(context.Context) error { return nil },
		Listen: "127.0.0.1:0", Codec: vault.NewCodec(w.keys), Audit: w.store, Policies: w.policies, Logger: logger,
		Eraser: vault.NewEraser(w.store, w.starter, w.namespace),
	})
	require.NoError(t, err)
	w.admin = httptest.NewServer(handler)
	t.Cleanup(w.admin.Close)
	return w
}

func (w *watched) works(version string, handle job.Handler[secrets]) (stop func()) {
	logger, err := telemetry.NewLogger(w.log, "debug", "json")
	require.NoError(w.t, err)
	return w.start(worker.Options{
		Handlers: handlers(w.t, "login.check", handle), HandlerVersion: version, Policies: &w.policies, Store: w.store, Vault: w.vault,
		Observer: w.metrics, Logger: logger,
	})
}

// lives drives a job with each canary through success, retry, poison and replay, and returns where each can be looked for.
func (w *watched) lives() (ids []job.KeyID, letters []job.DeadLetterID) {
	stop := w.works("v1", careless)
	for _, way := range ways() {
		ids = append(ids, w.enqueue("login.check", job.Key(way), secrets{way, canaryOf(way)}).ID)
	}
	for _, id := range ids {
		if id.Key == "result" || id.Key == "retry" {
			_, err := w.wait(id)
			require.NoError(w.t, err)
			continue
		}
		letters = append(letters, w.parked(id).ID)
	}
	stop()
	w.works("v2", func(_ context.Context, s secrets) (any, error) { return map[string]string{"did": s.Password}, nil })
	for _, id := range letters[:2] {
		require.True(w.t, w.ask(id, job.Request{Actor: "ada", Reason: "v2 is out", Force: true}).Accepted)
		require.Equal(w.t, job.OutcomeResolved, w.outcome(id, 1).Outcome)
	}
	return ids, letters
}

// everything is all that may be read without authorised decoding, by where it stands.
func (w *watched) everything(ids []job.KeyID, letters []job.DeadLetterID) map[string]string {
	found := map[string]string{"log": w.log.String(), "store": w.dump()}
	metrics := httptest.NewRecorder()
	w.page.ServeHTTP(metrics, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "/metrics", nil))
	found["metrics"] = metrics.Body.String()
	for _, id := range ids {
		found["history of "+id.JobWorkflowID()] = w.historyJSON(id.JobWorkflowID(), "")
	}
	for _, id := range letters {
		letter := w.letter(id)
		found["first history of "+letter.JobWorkflowID()] = w.historyJSON(letter.JobWorkflowID(), letter.Failures[0].RunID)
		found["history of "+letter.ReplayWorkflowID()] = w.historyJSON(letter.ReplayWorkflowID(), "")
		found["HTTP "+string(id)] = w.fetch("/v1/dead-letters/" + string(id))
		for _, output := range []string{"table", "json"} {
			shown := redrive(w.t, w.environment(), "dead-letters", "show", string(id), "-o", output)
			found["CLI show "+output+" "+string(id)] = shown.stdout + shown.stderr
		}
		found["decoded "+letter.JobWorkflowID()] = w.decoded(letter.JobWorkflowID(), letter.Failures[0].RunID)
	}
	for _, command := range [][]string{{"dead-letters", "list"}, {"dead-letters", "list", "-o", "json"}, {"audit"}} {
		listed := redrive(w.t, w.environment(), command...)
		require.Zero(w.t, listed.code, listed.stderr)
		found["CLI "+strings.Join(command, " ")] = listed.stdout + listed.stderr
	}
	visible, err := w.client.ListWorkflow(w.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: w.namespace})
	require.NoError(w.t, err)
	raw, err := protojson.Marshal(visible)
	require.NoError(w.t, err)
	found["visibility"] = string(raw)
	return found
}

func (w *watched) fetch(path string) string {
	answer, err := http.Get(w.admin.URL + path) //nolint:noctx // a test's own server
	require.NoError(w.t, err)
	defer answer.Body.Close()
	require.Equal(w.t, http.StatusOK, answer.StatusCode)
	var b bytes.Buffer
	_, err = b.ReadFrom(answer.Body)
	require.NoError(w.t, err)
	return b.String()
}

// decoded is what the codec endpoint shows of a run's input, in the clear.
func (w *watched) decoded(workflowID, runID string) string {
	body, err := protojson.Marshal(w.history(workflowID, runID)[0].GetWorkflowExecutionStartedEventAttributes().GetInput())
	require.NoError(w.t, err)
	answer, err := http.Post(w.admin.URL+"/codec/decode", "application/json", bytes.NewReader(body)) //nolint:noctx // a test's own server
	require.NoError(w.t, err)
	defer answer.Body.Close()
	var shown struct{ Payloads []struct{ Data []byte } }
	require.NoError(w.t, json.NewDecoder(answer.Body).Decode(&shown))
	require.Contains(w.t, string(shown.Payloads[0].Data), `"how"`, "it is decrypted")
	return string(shown.Payloads[0].Data)
}

// dump is the store as it lies on the disk, or every row of every table.
func (w *watched) dump() string {
	if path, ok := strings.CutPrefix(w.storeURL, "sqlite:"); ok {
		files, err := filepath.Glob(path + "*")
		require.NoError(w.t, err)
		var all strings.Builder
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(w.t, err)
			all.Write(raw)
		}
		return all.String()
	}
	db, err := sql.Open("pgx", w.storeURL)
	require.NoError(w.t, err)
	defer db.Close()
	var all strings.Builder
	for _, table := range w.texts(db, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`) {
		all.WriteString(strings.Join(w.texts(db, `SELECT t::text FROM "`+table+`" t`), "\n"))
	}
	return all.String()
}

func (w *watched) texts(db *sql.DB, query string) []string {
	rows, err := db.QueryContext(w.t.Context(), query)
	require.NoError(w.t, err)
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		require.NoError(w.t, rows.Scan(&text))
		found = append(found, text)
	}
	require.NoError(w.t, rows.Err())
	return found
}

// sightings names where canaries can be read, also in base64 and hex.
func sightings(places map[string]string) []string {
	var seen []string
	for _, where := range slices.Sorted(maps.Keys(places)) {
		for _, way := range ways() {
			canary := canaryOf(way)
			forms := append(inBase64(canary), canary, fmt.Sprintf("%x", canary), base64.StdEncoding.EncodeToString([]byte(canary)))
			if slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(places[where], form) }) {
				seen = append(seen, way+" in "+where)
			}
		}
	}
	return seen
}

// Canaries are let out wherever a handler can, through success, retry, poison, replay and erasure, and nothing that may be read
// without authorised decoding holds one.
func TestPrivacyCanaries(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]opener{"SQLite": openSQLite, "Postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatched(t, open, redaction.Policy{})
			ids, letters := w.lives()
			places := w.everything(ids, letters)
			for where, text := range places {
				require.NotEmpty(t, text, where)
			}
			require.Empty(t, sightings(places))

			erased := redrive(t, w.environment(), "dead-letters", "erase", string(letters[0]), "--reason", "request 4711")
			require.Zero(t, erased.code, erased.stderr)
			shown := redrive(t, w.environment(), "dead-letters", "show", string(letters[0]))
			require.Regexp(t, `erased +.* by grace: request 4711`, shown.stdout)
			for _, id := range letters[1:] {
				answer, err := http.Post(w.admin.URL+"/v1/dead-letters/"+string(id)+"/erase", "application/json", //nolint:noctx // a test's own server
					strings.NewReader(`{"reason":"request 4711"}`))
				require.NoError(t, err)
				require.NoError(t, answer.Body.Close())
				require.Equal(t, http.StatusOK, answer.StatusCode)
			}
			require.Empty(t, sightings(map[string]string{"log": w.log.String(), "store": w.dump()}))
		})
	}
}

// The search finds what is there: with redaction off, the same jobs are all over the place.
func TestPrivacyCanariesAreFoundWithoutRedaction(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]opener{"SQLite": openSQLite, "Postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatched(t, open, redaction.Policy{ReplaceDefaults: true})
			ids, letters := w.lives()
			seen := strings.Join(sightings(w.everything(ids, letters)), "\n")
			for _, want := range []string{
				"message in store", "cause in store", "panic in store", "message in log", "HTTP", "CLI show table", "CLI show json", "decoded job:",
			} {
				require.Contains(t, seen, want)
			}
			require.NotContains(t, seen, "history", "encryption does not depend on it")
		})
	}
}
