package integration_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/testsuite/services"
)

// program is the path of a freshly built redrive; it is built once for the package.
var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programDir, "redrive")
	output, err := exec.Command("go", "build", "-o", path, "github.com/redrivehq/redrive/cmd/redrive").CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(output)))
	}
	return path, nil
})

// answer is what a finished program left.
type answer struct {
	code   int
	stdout string
	stderr string
}

// redrive runs the program with only the given environment besides PATH and HOME, in a directory of its own.
func redrive(t *testing.T, environment []string, args ...string) answer {
	t.Helper()
	command := redriveCommand(t, environment, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exited *exec.ExitError
	if !errors.As(err, &exited) {
		require.NoError(t, err)
	}
	return answer{code: command.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

func redriveCommand(t *testing.T, environment []string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	require.NoError(t, err)
	devserver, err := filepath.Abs(filepath.Join("..", "..", "bin", "devserver"))
	require.NoError(t, err)
	// The program looks for its embedded server beside itself.
	beside := filepath.Join(filepath.Dir(path), "devserver")
	if err := os.Symlink(devserver, beside); err != nil && !errors.Is(err, os.ErrExist) {
		require.NoError(t, err)
	}
	command := exec.CommandContext(t.Context(), path, args...) //nolint:gosec // our own program
	command.Dir = t.TempDir()
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "USER=grace"}, environment...)
	return command
}

// environment leads a program to the stack.
func (s *stack) environment() []string {
	return []string{
		"TEMPORAL_ADDRESS=" + s.address, "TEMPORAL_NAMESPACE=" + s.namespace,
		"REDRIVE_STORE=" + s.storeURL, "REDRIVE_VAULT_KEYSET=" + s.keysetFile,
	}
}

// Two processes enqueue one key at once: one run. Another payload under that key: the conflict error.
func TestOneKeyFromTwoProcesses(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	payload := filepath.Join(t.TempDir(), "payload.json")
	require.NoError(t, os.WriteFile(payload, []byte(`{"text":"hello"}`), 0o600))
	var together sync.WaitGroup
	answers := make([]answer, 4)
	for i := range answers {
		together.Go(func() {
			answers[i] = redrive(t, s.environment(), "enqueue", "note.keep", "a", "--payload", payload, "-o", "json")
		})
	}
	together.Wait()
	runs, started := map[string]bool{}, 0
	for _, a := range answers {
		require.Zero(t, a.code, a.stderr)
		var enqueued starter.Enqueued
		require.NoError(t, json.Unmarshal([]byte(a.stdout), &enqueued), a.stdout)
		runs[enqueued.RunID] = true
		if !enqueued.Duplicate {
			started++
		}
	}
	require.Len(t, runs, 1)
	require.Equal(t, 1, started)

	require.NoError(t, os.WriteFile(payload, []byte(`{"text":"other"}`), 0o600))
	conflict := redrive(t, s.environment(), "enqueue", "note.keep", "a", "--payload", payload)
	require.Equal(t, 3, conflict.code)
	require.Contains(t, conflict.stderr, "different payload")
}

// What an operator sees and types: the list, the page, a refused request with its reason, a decision's exit code.
func TestOperatorsProgram(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	s.rawSignal(letter.ReplayWorkflowID(), "replay", plainJSON(`{"reason":"who am I?"}`))
	s.until("the malformed request is recorded", func() bool { return len(s.letter(letter.ID).Requests) == 1 })

	list := redrive(t, s.environment(), "dead-letters", "list")
	require.Zero(t, list.code, list.stderr)
	require.Contains(t, list.stdout, string(letter.ID))

	refused := redrive(t, s.environment(), "dead-letters", "replay", "note.keep:a", "--reason", "try")
	require.Equal(t, 3, refused.code, refused.stderr)
	require.Contains(t, refused.stderr, "version_unchanged")

	noted := redrive(t, s.environment(), "dead-letters", "annotate", string(letter.ID), "--text", "seen by the night shift")
	require.Zero(t, noted.code, noted.stderr)

	show := redrive(t, s.environment(), "dead-letters", "show", string(letter.ID))
	require.Zero(t, show.code, show.stderr)
	for _, want := range []string{
		"invalid_payload", "text is bad", "invalid_request", `needs "actor"`, "version_unchanged", "grace", "seen by the night shift",
		job.ReplayCommand(s.namespace, letter.KeyID),
	} {
		require.Contains(t, show.stdout, want)
	}

	discarded := redrive(t, s.environment(), "dead-letters", "discard", string(letter.ID), "--reason", "a test order")
	require.Zero(t, discarded.code, discarded.stderr)
	require.Equal(t, job.StateDiscarded, s.letter(letter.ID).State)
}

// production is a server that must not be touched: it counts who knocks.
func production(t *testing.T) (address string, knocks *atomic.Int64) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() }) // already closed when the context ended
	knocks = new(atomic.Int64)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			knocks.Add(1)
			_ = conn.Close()
		}
	}()
	return listener.Addr().String(), knocks
}

// `make demo` is `redrive dev --demo`: the story holds, and the server in TEMPORAL_ADDRESS is not touched.
func TestDemoLeavesProductionAlone(t *testing.T) {
	t.Parallel()
	services.Needed(t, "the embedded Temporal and PostgreSQL")
	address, knocks := production(t)
	report := filepath.Join(t.TempDir(), "report.json")
	told := redrive(t, []string{"TEMPORAL_ADDRESS=" + address, "TEMPORAL_NAMESPACE=production", "TMPDIR=" + t.TempDir()}, "dev", "--demo", "--report", report)
	require.Zero(t, told.code, "%s\n%s", told.stdout, told.stderr)
	raw, err := os.ReadFile(report)
	require.NoError(t, err)
	var counts map[string]any
	require.NoError(t, json.Unmarshal(raw, &counts))
	require.Equal(t, true, counts["ok"])
	require.EqualValues(t, 5, counts["jobs"])
	require.EqualValues(t, 4, counts["completed"])
	require.EqualValues(t, 1, counts["dead_lettered"])
	require.EqualValues(t, 1, counts["resolved"])
	require.EqualValues(t, 0, counts["duplicate_effects"])
	require.EqualValues(t, 0, counts["lost"])
	require.GreaterOrEqual(t, counts["lease_expiries"], 1.0)
	require.Zero(t, knocks.Load(), "connections to the server in TEMPORAL_ADDRESS")
	for _, secret := range []string{"4111 1111", "sk_live_", "grace@customer"} {
		require.NotContains(t, told.stdout+told.stderr, secret)
	}
}

// `redrive dev --json` prints one line when ready, leaves production alone, and ends when asked.
func TestDevLeavesProductionAlone(t *testing.T) {
	t.Parallel()
	services.Needed(t, "the embedded Temporal and PostgreSQL")
	address, knocks := production(t)
	command := redriveCommand(t, []string{"TEMPORAL_ADDRESS=" + address}, "dev", "--json")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	defer context.AfterFunc(ctx, func() { _ = command.Process.Kill() })() // the test has failed by then
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, &stderr)
	var ready map[string]string
	require.NoError(t, json.Unmarshal([]byte(line), &ready))
	for _, key := range []string{"temporal", "temporal_http", "ui", "admin", "namespace", "store"} {
		require.NotEmpty(t, ready[key], "%s of %s", key, strings.TrimSpace(line))
	}
	require.NoError(t, command.Process.Signal(os.Interrupt))
	require.NoError(t, command.Wait(), &stderr)
	require.Zero(t, knocks.Load(), "connections to the server in TEMPORAL_ADDRESS")
}
