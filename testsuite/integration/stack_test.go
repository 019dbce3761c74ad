package integration_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	_ "modernc.org/sqlite"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/postgres"
	"github.com/redrivehq/redrive/store/sqlite"
	"github.com/redrivehq/redrive/testsuite"
	"github.com/redrivehq/redrive/testsuite/pg"
	"github.com/redrivehq/redrive/testsuite/services"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// stack is a namespace with a store, a vault and clients of its own.
type stack struct {
	t         *testing.T
	address   string // of Temporal
	namespace string
	store     *store.DB
	keys      *vault.Keyset
	vault     *vault.Vault
	client    *worker.Client
	starter   *starter.Client
	replay    *replay.Client
	policies  job.Policies
	// For programs that join the stack.
	storeURL   string
	keysetFile string

	beats atomic.Int64 // heartbeats that any client of this stack sent
}

// quick is a policy for tests: short leases, short backoff, a minimum wait that a test can wait for, and jobs from any client.
func quick() job.Policy {
	return job.Policy{
		PlainStart: job.PlainStartAllow,
		Lease:      3 * time.Second, Timeout: 20 * time.Second, Deadline: time.Minute, MaxAttempts: 3,
		Backoff: job.Backoff{Base: 50 * time.Millisecond, Cap: 200 * time.Millisecond},
		Replay:  job.ReplayPolicy{Max: 3, MinWait: 2 * time.Second, MaxWait: time.Minute},
	}
}

func newStack(t *testing.T, open opener) *stack {
	t.Helper()
	services.Needed(t, "the embedded Temporal and PostgreSQL")
	return newStackOn(t, shared.Address, open)
}

// newStackOn makes a stack on the server at an address.
func newStackOn(t *testing.T, address string, open opener) *stack {
	t.Helper()
	services.Needed(t, "the embedded Temporal and PostgreSQL")
	ctx := t.Context()
	space, err := testsuite.StartServer(ctx, testsuite.ServerOptions{Reuse: address})
	require.NoError(t, err)
	t.Cleanup(func() { _ = space.Close() }) // deleting the namespace is a courtesy to a reused server
	s := &stack{t: t, address: address, namespace: space.Namespace, policies: job.Policies{Default: quick()}}
	s.keys, err = vault.GenerateKeyset()
	require.NoError(t, err)
	s.client = s.dial(s.keys)
	s.store, s.storeURL = open(t)
	require.NoError(t, s.store.Migrate(ctx))
	plain, err := s.keys.MarshalPlain()
	require.NoError(t, err)
	s.keysetFile = filepath.Join(t.TempDir(), "keyset.json")
	require.NoError(t, os.WriteFile(s.keysetFile, plain, 0o600))
	s.vault = vault.New(s.keys, s.store)
	s.starter = starter.New(s.client, starter.Options{Vault: s.vault})
	s.replay = replay.New(s.client, s.store)
	return s
}

// dial returns a client of the stack that encrypts with keys.
func (s *stack) dial(keys *vault.Keyset) *worker.Client {
	s.t.Helper()
	c, err := worker.Dial(s.t.Context(), vault.Protect(client.Options{
		HostPort: s.address, Namespace: s.namespace,
		ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(s.count)}},
		Logger:            quiet{},
	}, keys))
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	return c
}

func (s *stack) count(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if _, ok := req.(*workflowservice.RecordActivityTaskHeartbeatRequest); ok {
		s.beats.Add(1)
	}
	return invoke(ctx, method, req, reply, cc, opts...)
}

// quiet drops the SDK's log.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// opener opens a store that is the test's own, and returns its URL as programs take it.
type opener func(*testing.T) (*store.DB, string)

func openSQLite(t *testing.T) (*store.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "redrive.db")
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return sqlite.New(db), "sqlite:" + path
}

func openPostgres(t *testing.T) (*store.DB, string) {
	t.Helper()
	return openDSN(t, pg.ForTest(t))
}

func openDSN(t *testing.T, dsn string) (*store.DB, string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return postgres.New(db), dsn
}

// onBothStores runs a test on SQLite and on Postgres.
func onBothStores(t *testing.T, test func(*testing.T, *stack)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]opener{"SQLite": openSQLite, "Postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStack(t, open))
		})
	}
}

// handlers returns a registry with one handler for type t.
func handlers[P any](t *testing.T, jobType job.Type, handle job.Handler[P]) *worker.Handlers {
	t.Helper()
	h := new(worker.Handlers)
	require.NoError(t, worker.Register(h, job.Definition{Type: jobType, Effects: job.EffectsNone, Owner: "tests", Policy: quick()}, handle))
	return h
}

// work starts a worker that polls everything, until the test ends or stop is called.
func (s *stack) work(version string, h *worker.Handlers) (stop func()) {
	s.t.Helper()
	return s.start(worker.Options{
		Handlers: h, HandlerVersion: version, Policies: &s.policies, Store: s.store, Vault: s.vault, Drain: time.Second,
	})
}

// lane starts a worker that only runs handlers.
func (s *stack) lane(version string, h *worker.Handlers) (stop func()) {
	s.t.Helper()
	return s.start(worker.Options{Handlers: h, HandlerVersion: version, Payloads: s.vault, Drain: time.Second})
}

func (s *stack) start(options worker.Options) (stop func()) {
	s.t.Helper()
	w, err := worker.New(s.client, options)
	require.NoError(s.t, err)
	require.NoError(s.t, w.Start(s.t.Context()))
	var stopped atomic.Bool
	stop = func() {
		if stopped.CompareAndSwap(false, true) {
			w.Stop()
		}
	}
	s.t.Cleanup(stop)
	return stop
}

func (s *stack) enqueue(t job.Type, key job.Key, payload any) starter.Enqueued {
	s.t.Helper()
	enqueued, err := starter.Enqueue(s.t.Context(), s.starter, t, key, payload, starter.EnqueueOptions{})
	require.NoError(s.t, err)
	return enqueued
}

// wait returns a job's result or error.
func (s *stack) wait(id job.KeyID) (json.RawMessage, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	return s.starter.Wait(ctx, id)
}

// parked waits until a job is dead-lettered and its Replay answers, and returns the record.
func (s *stack) parked(id job.KeyID) job.DeadLetter {
	s.t.Helper()
	_, err := s.wait(id)
	var dead *starter.DeadLetteredError
	require.ErrorAs(s.t, err, &dead)
	s.until("Replay of "+id.String()+" is parked", func() bool { return s.state(id).State == job.StateDeadLettered })
	return s.letter(dead.DeadLetterID)
}

func (s *stack) letter(id job.DeadLetterID) job.DeadLetter {
	s.t.Helper()
	letter, err := s.store.DeadLetter(s.t.Context(), id)
	require.NoError(s.t, err)
	return letter
}

// state queries the Replay workflow; one that does not answer has no state.
func (s *stack) state(id job.KeyID) job.Parked {
	s.t.Helper()
	var parked job.Parked
	value, err := s.client.QueryWorkflow(s.t.Context(), id.ReplayWorkflowID(), "", job.QueryState)
	if err != nil {
		return parked
	}
	require.NoError(s.t, value.Get(&parked))
	return parked
}

// ask sends a replay request and returns the decision.
func (s *stack) ask(id job.DeadLetterID, r job.Request) job.Decision {
	s.t.Helper()
	return s.request(id, job.RequestReplay, r)
}

func (s *stack) request(id job.DeadLetterID, kind job.RequestKind, r job.Request) job.Decision {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	requestID, err := s.replay.Send(ctx, id, kind, r)
	require.NoError(s.t, err)
	decision, err := s.replay.Await(ctx, id, kind, requestID)
	require.NoError(s.t, err)
	return decision
}

func (s *stack) outcome(id job.DeadLetterID, number int) job.ReplayRecord {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	record, err := s.replay.AwaitOutcome(ctx, id, number)
	require.NoError(s.t, err)
	return record
}

func (s *stack) until(what string, done func() bool) {
	s.t.Helper()
	require.Eventually(s.t, done, patience, 50*time.Millisecond, what)
}

// history returns all events of a workflow's run.
func (s *stack) history(workflowID, runID string) []*historypb.HistoryEvent {
	s.t.Helper()
	var events []*historypb.HistoryEvent
	iterator := s.client.GetWorkflowHistory(s.t.Context(), workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iterator.HasNext() {
		event, err := iterator.Next()
		require.NoError(s.t, err)
		events = append(events, event)
	}
	return events
}
