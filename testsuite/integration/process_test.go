package integration_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/postgres"
	"github.com/redrivehq/redrive/store/sqlite"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// Variables of a worker process. The first makes this test binary one instead of a test run.
const (
	workerVariable = "REDRIVE_TEST_WORKER"
	drainVariable  = "REDRIVE_TEST_DRAIN"
	downstreamURL  = "REDRIVE_TEST_DOWNSTREAM" // where its handlers have effects, and say what they do
)

// workerProcess is what such a process does: it runs note.keep, note.call and note.charge until its stdin ends.
func workerProcess() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); cancel() }()
	keys, err := vault.LoadKeyset(os.Getenv("REDRIVE_VAULT_KEYSET"))
	if err != nil {
		return err
	}
	c, err := worker.Dial(ctx, vault.Protect(client.Options{
		HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE"), Logger: quiet{},
	}, keys))
	if err != nil {
		return err
	}
	defer c.Close()
	db, closeStore, err := openURL(os.Getenv("REDRIVE_STORE"))
	if err != nil {
		return err
	}
	defer closeStore()
	drain, err := time.ParseDuration(cmp.Or(os.Getenv(drainVariable), "1s"))
	if err != nil {
		return err
	}
	h := new(worker.Handlers)
	down := downstreamClient{url: os.Getenv(downstreamURL)}
	for _, register := range []error{
		worker.Register(h, job.Definition{Type: "note.keep", Effects: job.EffectsNone, Owner: "tests"}, doNote(down)),
		worker.Register(h, job.Definition{Type: "note.call", Effects: job.EffectsLedger, Owner: "tests"}, down.charge),
		registerCharge(h, os.Getenv(tillVariable)),
	} {
		if register != nil {
			return register
		}
	}
	w, err := worker.New(c, worker.Options{
		Handlers: h, HandlerVersion: "v1", Payloads: vault.New(keys, db), Ledger: db, Drain: drain, MaxConcurrent: 100,
		Observer: down,
	})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// openURL opens a store by its URL.
func openURL(url string) (*store.DB, func(), error) {
	driver, dsn, open := "pgx", url, postgres.New
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, dsn, open = "sqlite", sqlite.DSN(path), sqlite.New
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, nil, err
	}
	return open(db), func() { _ = db.Close() }, nil
}

// doNote does what a note says: "exit" ends the process, "work" takes a second, "wait-once" takes for ever the first
// time, and "resume" too, but leaves word how far it came.
func doNote(down downstreamClient) job.Handler[note] {
	return func(ctx context.Context, n note) (any, error) {
		attempt, _ := job.AttemptFrom(ctx)
		long := time.Second
		switch {
		case n.Text == "exit":
			os.Exit(1)
		case n.Text == "resume":
			if err := job.LeaseFrom(ctx).Progress(7); err != nil {
				return nil, err
			}
			long = time.Hour
		case n.Text == "slow":
			down.say("slow started")
			long = 10 * time.Second
		case n.Text == "wait-once" && attempt.Number == 1:
			long = time.Hour
		case n.Text == "wait-once":
			long = 0
		}
		timer := time.NewTimer(long)
		defer timer.Stop()
		select {
		case <-timer.C:
			return n.Text, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// supervisor keeps worker processes alive, as an orchestrator does.
type supervisor struct {
	s           *stack
	environment []string

	mu      sync.Mutex
	ended   bool
	running map[int]*exec.Cmd
	deaths  int
	all     sync.WaitGroup
}

// supervise starts n worker processes; restart says whether one that dies is replaced. environment is theirs beside what
// every program of the stack gets.
func (s *stack) supervise(n int, restart bool, environment ...string) *supervisor {
	s.t.Helper()
	v := &supervisor{s: s, environment: environment, running: map[int]*exec.Cmd{}}
	for range n {
		v.all.Go(func() {
			for v.runOne() && restart {
			}
		})
	}
	s.t.Cleanup(v.end)
	return v
}

// end kills the processes and replaces none.
func (v *supervisor) end() {
	v.mu.Lock()
	v.ended = true
	for _, c := range v.running {
		_ = c.Process.Kill()
	}
	v.mu.Unlock()
	v.all.Wait()
}

// runOne runs a process until it dies; it returns false when the test is over.
func (v *supervisor) runOne() bool {
	command := exec.Command(os.Args[0]) //nolint:noctx // killed at the end of the test
	command.Env = append(v.s.environment(), workerVariable+"=1", "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
	command.Env = append(command.Env, v.environment...)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe() // its end is the end of the process
	if err == nil {
		v.mu.Lock()
		if v.ended {
			v.mu.Unlock()
			return false
		}
		if err = command.Start(); err == nil {
			v.running[command.Process.Pid] = command
		}
		v.mu.Unlock()
	}
	if err != nil {
		v.s.t.Errorf("start a worker process: %v", err)
		return false
	}
	_ = command.Wait() // however it ended
	_ = stdin.Close()
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.running, command.Process.Pid)
	v.deaths++
	return !v.ended
}

// kill ends every process at once.
func (v *supervisor) kill() { v.signal(syscall.SIGKILL) }

// signal sends to every process that runs.
func (v *supervisor) signal(signal syscall.Signal) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.running {
		_ = c.Process.Signal(signal) // it may have died by itself
	}
}

// One job that ends its process at once, among 20 innocents on two workers: it is parked, and they lose nothing.
func TestTheJobThatKillsItsWorkersIsFound(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.policies.Default = quick()
	s.policies.Default.Lease, s.policies.Default.Deadline, s.policies.Default.MaxAttempts = 2*time.Second, 3*time.Minute, 1
	s.work("v1", nil)
	v := s.supervise(2, true)
	guilty := s.enqueue("note.keep", "guilty", note{"exit"})
	for i := range 20 {
		s.enqueue("note.keep", job.Key(fmt.Sprintf("innocent-%d", i)), note{"work"})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for i := range 20 {
		_, err := s.starter.Wait(ctx, job.KeyID{Type: "note.keep", Key: job.Key(fmt.Sprintf("innocent-%d", i))})
		require.NoError(t, err, "innocent %d has one counted attempt at most, or it would be a dead letter", i)
	}
	_, err := s.starter.Wait(ctx, guilty.ID)
	require.Error(t, err)
	letter := s.parked(guilty.ID)
	require.Equal(t, job.CauseLeaseLosses, letter.Cause)
	require.Equal(t, job.ClassLeaseLost, letter.Class)
	require.Zero(t, letter.Log.Counted)
	require.GreaterOrEqual(t, letter.Log.LostSole, 3)
	v.mu.Lock()
	defer v.mu.Unlock()
	require.LessOrEqual(t, v.deaths, 10, "worker processes that the job killed")
}

// A worker that is killed with 50 jobs in its hands: all are dispatched again and complete, none is counted or suspect.
func TestKilledWorkerOfFiftyJobs(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.policies.Default = quick()
	s.policies.Default.MaxAttempts, s.policies.Default.Lease = 1, 6*time.Second
	s.work("v1", nil)
	first := s.supervise(1, false)
	const jobs = 50
	id := func(i int) job.KeyID { return job.KeyID{Type: "note.keep", Key: job.Key(fmt.Sprintf("job-%d", i))} }
	for i := range jobs {
		s.enqueue("note.keep", id(i).Key, note{"wait-once"})
	}
	s.until("the first worker holds all of them, and has said so", func() bool {
		for i := range jobs {
			if !s.beatsOf(id(i).JobWorkflowID()) {
				return false
			}
		}
		return true
	})
	first.kill()
	killed := time.Now()
	seen := newObserved()
	s.start(worker.Options{
		Handlers: handlers(t, "note.keep", doNote(downstreamClient{})), HandlerVersion: "v1", Payloads: s.vault, MaxConcurrent: 100,
		Observer: seen,
	})
	s.until("all are dispatched again", func() bool { return seen.lease(job.LeaseGranted) == jobs })
	require.Less(t, time.Since(killed), 2*s.policies.Default.Lease)
	for i := range jobs {
		_, err := s.wait(id(i))
		require.NoError(t, err, "job %d has one counted attempt at most, or it would be a dead letter", i)
	}
	require.Equal(t, jobs, seen.lease(job.LeaseExpired))
	require.Zero(t, seen.lease(job.LeaseUndelivered))
	require.Zero(t, seen.lease(job.LeaseSuspect))
	require.Equal(t, map[int]int{1: jobs}, seen.counted(), "how many counted attempts each job took")
}
