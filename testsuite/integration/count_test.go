package integration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// 50 times 429 with Retry-After, then success, with three attempts allowed: it completes with one counted attempt, and
// no retry came earlier than the dependency asked for.
func TestThrottlingUsesUpNoAttempts(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	const times, retryAfter = 50, 50 * time.Millisecond
	policy := quick()
	policy.Lease, policy.Timeout, policy.Deadline = 30*time.Second, time.Minute, 5*time.Minute
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	var mu sync.Mutex
	var calls int
	var throttled time.Time
	var early []time.Duration
	seen := newObserved()
	s.start(worker.Options{
		HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Vault: s.vault, Observer: seen,
		Handlers: handlers(t, "note.keep", func(context.Context, note) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			if waited := time.Since(throttled); waited < retryAfter {
				early = append(early, waited)
			}
			if calls++; calls > times {
				return "sent", nil
			}
			throttled = time.Now()
			return nil, job.Throttled(errors.New("slow down"), retryAfter)
		}),
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	result, err := s.starter.Wait(ctx, s.enqueue("note.keep", "a", note{}).ID)
	require.NoError(t, err)
	require.JSONEq(t, `"sent"`, string(result))
	require.Empty(t, early, "retries that came earlier than Retry-After")
	require.Equal(t, times+1, seen.lease(job.LeaseGranted))
	require.Equal(t, map[int]int{1: 1}, seen.counted())
}

// 100 jobs that fail together do not come back together.
func TestJobsThatFailTogetherComeBackSpread(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	const jobs, base = 100, 10 * time.Second
	const least, window = base * 8 / 10, base * 4 / 10 // job.Jitter is 0.2
	policy := quick()
	policy.Lease, policy.Timeout, policy.Deadline = 30*time.Second, time.Minute, 5*time.Minute // a busy server loses no lease
	policy.Backoff = job.Backoff{Base: base, Cap: time.Minute}
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	var mu sync.Mutex
	failed := map[string]time.Time{}
	var early []time.Duration
	s.start(worker.Options{
		HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Vault: s.vault, MaxConcurrent: jobs,
		Handlers: handlers(t, "note.keep", func(_ context.Context, n note) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			if at, again := failed[n.Text]; again {
				if waited := time.Since(at); waited < least {
					early = append(early, waited)
				}
				return nil, nil
			}
			failed[n.Text] = time.Now()
			return nil, job.DependencyDown(errors.New("connection refused"))
		}),
	})
	for i := range jobs {
		s.enqueue("note.keep", job.Key(fmt.Sprintf("job-%d", i)), note{fmt.Sprint(i)})
	}
	quarters := map[int]int{} // of the jitter window, by what the server was told: when it is busy it starts them later
	for i := range jobs {
		id := job.KeyID{Type: "note.keep", Key: job.Key(fmt.Sprintf("job-%d", i))}
		_, err := s.wait(id)
		require.NoError(t, err)
		for _, event := range s.history(id.JobWorkflowID(), "") {
			if failure := event.GetActivityTaskStartedEventAttributes().GetLastFailure(); failure != nil {
				delay := failure.GetApplicationFailureInfo().GetNextRetryDelay().AsDuration()
				quarters[int(4*(delay-least)/window)]++
			}
		}
	}
	require.Empty(t, early, "retries that came before the backoff")
	for quarter := range 4 {
		require.Greater(t, quarters[quarter], jobs/20, "jobs by quarter of the jitter window: %v", quarters)
	}
}

// explosive is an error whose text cannot be had.
type explosive struct{}

func (explosive) Error() string { panic("no text") }

// Whatever a handler returns or does, the job ends with the right class and a bounded readable record.
func TestHostileVerdicts(t *testing.T) {
	t.Parallel()
	permanent := job.InvalidPayload(errors.New("no recipient"))
	deep := errors.New("the root")
	for i := range 200 {
		deep = fmt.Errorf("layer %d: %w", i, deep)
	}
	verdicts := map[string]struct {
		do    func() error
		class job.Class
	}{
		"wrapped":      {func() error { return fmt.Errorf("x: %w", permanent) }, job.ClassInvalidPayload},
		"joined":       {func() error { return errors.Join(permanent, errors.New("other")) }, job.ClassInvalidPayload},
		"panic":        {func() error { panic("at the disco") }, job.ClassHandlerDefect},
		"nil-map":      {func() error { var m map[string]int; m["x"] = 1; return nil }, job.ClassHandlerDefect}, //lint:ignore SA5000 the defect under test
		"explosive":    {func() error { return explosive{} }, job.ClassTransient},
		"huge":         {func() error { return errors.New(strings.Repeat("5 MB of text ", 5<<20/13)) }, job.ClassTransient},
		"deep":         {func() error { return deep }, job.ClassTransient},
		"deep-verdict": {func() error { return fmt.Errorf("%w: %w", deep, permanent) }, job.ClassInvalidPayload},
		"invalid-utf8": {func() error { return errors.New("caf\xe9 \xff\xfe") }, job.ClassTransient},
	}
	s := newStack(t, openSQLite)
	policy := quick()
	policy.MaxAttempts = 2
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	s.work("v1", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return nil, verdicts[n.Text].do() }))
	for name := range verdicts {
		s.enqueue("note.keep", job.Key(name), note{name})
	}
	for name, verdict := range verdicts {
		letter := s.parked(job.KeyID{Type: "note.keep", Key: job.Key(name)})
		require.Equal(t, verdict.class, letter.Class, name)
		require.LessOrEqual(t, len(letter.Message), job.MaxMessageBytes, name)
		require.NotEmpty(t, strings.TrimSpace(letter.Message), name)
		require.True(t, utf8.ValidString(letter.Message), name)
		if verdict.class == job.ClassTransient {
			require.Equal(t, 2, letter.Log.Counted, name)
		} else {
			require.Equal(t, 1, letter.Log.Counted, name)
		}
	}
}

// SIGTERM with a running handler of ten seconds and a drain of two: another worker starts it at once when the process has
// ended, not when the lease has passed, and nothing is counted.
func TestTerminatedProcessHandsItsJobBack(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	d := newDownstream(t)
	s.policies.Default = quick()
	s.policies.Default.Lease, s.policies.Default.Timeout, s.policies.Default.MaxAttempts = 20*time.Second, 30*time.Second, 1
	s.work("v1", nil)
	leaving := s.supervise(1, false, drainVariable+"=2s", downstreamURL+"="+d.URL)
	enqueued := s.enqueue("note.keep", "a", note{"slow"})
	require.Equal(t, "slow started", <-d.said)
	again := make(chan time.Time, 1)
	s.lane("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) {
		again <- time.Now()
		return "done", nil
	}))
	terminated := time.Now()
	leaving.signal(syscall.SIGTERM)
	leaving.all.Wait()
	exited := time.Now()
	_, err := s.wait(enqueued.ID)
	require.NoError(t, err, "the drained attempt is not counted, or the job would be a dead letter")
	restarted := <-again
	require.GreaterOrEqual(t, restarted.Sub(terminated), 2*time.Second, "the handler got its drain time")
	require.Less(t, restarted.Sub(exited), 2*time.Second)
}
