//go:build unix

package testsuite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/testsuite"
	"github.com/redrivehq/redrive/testsuite/services"
)

// holderEnv makes TestServerHolder hold a server; its value is the options as JSON.
const holderEnv = "REDRIVE_TESTSUITE_HOLDER"

func TestServer(t *testing.T) {
	t.Parallel()
	s := newServer(t, testsuite.ServerOptions{})
	c := dial(t, s)

	t.Run("SearchAttributes", func(t *testing.T) {
		t.Parallel()
		have, err := c.OperatorService().ListSearchAttributes(t.Context(),
			&operatorservice.ListSearchAttributesRequest{Namespace: s.Namespace})
		require.NoError(t, err)
		for _, a := range job.SearchAttributes() {
			want, err := enumspb.IndexedValueTypeFromString(a.Type)
			require.NoError(t, err)
			require.Equal(t, want, have.GetCustomAttributes()[a.Name], a.Name)
		}
	})
	t.Run("Updates", func(t *testing.T) {
		t.Parallel()
		ns, err := c.WorkflowService().DescribeNamespace(t.Context(),
			&workflowservice.DescribeNamespaceRequest{Namespace: s.Namespace})
		require.NoError(t, err)
		require.True(t, ns.GetNamespaceInfo().GetCapabilities().GetSyncUpdate(), "synchronous updates")
		require.True(t, ns.GetNamespaceInfo().GetCapabilities().GetAsyncUpdate(), "asynchronous updates")
	})
	t.Run("HTTPWithColons", func(t *testing.T) {
		t.Parallel()
		id := "job:email.send:order-1001.receipt"
		at := s.HTTPAddress + "/api/v1/namespaces/" + s.Namespace + "/workflows/" + id
		require.Equal(t, http.StatusOK, post(t, at, `{"workflowType":{"name":"Job"},"taskQueue":{"name":"redrive"}}`))
		require.Equal(t, http.StatusOK, post(t, at+"/signal/replay", `{"input":[{"actor":"ann"}]}`))
		run, err := c.DescribeWorkflow(t.Context(), id, "")
		require.NoError(t, err)
		require.Equal(t, "Job", run.WorkflowType.Name)
	})
	t.Run("UI", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, http.StatusOK, get(t, s.UIAddress+"/"))
		require.Equal(t, http.StatusOK, get(t, s.UIAddress+"/api/v1/namespaces/"+s.Namespace))
	})
	t.Run("PortInUse", func(t *testing.T) {
		t.Parallel()
		_, port, err := net.SplitHostPort(s.Address)
		require.NoError(t, err)
		number, err := strconv.Atoi(port)
		require.NoError(t, err)
		_, err = testsuite.StartServer(t.Context(), testsuite.ServerOptions{Binary: binary(t), HTTPPort: number})
		require.ErrorContains(t, err, "--http-port "+port+" cannot be used")
	})
	t.Run("UnknownDynamicConfig", func(t *testing.T) {
		t.Parallel()
		_, err := testsuite.StartServer(t.Context(), testsuite.ServerOptions{
			Binary: binary(t), DynamicConfig: map[string]string{"history.noSuchThing": "1"},
		})
		require.ErrorContains(t, err, "noSuchThing")
	})
	t.Run("Reused", func(t *testing.T) {
		t.Parallel()
		reused := newServer(t, testsuite.ServerOptions{Reuse: s.Address})
		require.Regexp(t, `^redrive-test-[a-z0-9]{12}$`, reused.Namespace)
		start(t, dial(t, reused), reused, "reused")
		require.NoError(t, reused.Close())
		eventually(t, "the namespace is gone", func() bool {
			_, err := c.WorkflowService().DescribeNamespace(context.Background(),
				&workflowservice.DescribeNamespaceRequest{Namespace: reused.Namespace})
			return err != nil
		})
	})
}

func TestServerFile(t *testing.T) {
	t.Parallel()
	opts := testsuite.ServerOptions{DB: filepath.Join(t.TempDir(), "of redrive?#%", "temporal.db"), NoUI: true}
	first := newServer(t, opts)
	require.Empty(t, first.UIAddress)
	start(t, dial(t, first), first, "kept")

	opts.Binary = binary(t)
	_, err := testsuite.StartServer(t.Context(), opts)
	require.ErrorContains(t, err, "one server at a time")

	require.NoError(t, first.Close())
	second := newServer(t, opts)
	_, err = dial(t, second).DescribeWorkflow(t.Context(), "kept", "")
	require.NoError(t, err)
	info, err := os.Stat(opts.DB)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "histories hold payloads")
}

// The holder's environment points TEMPORAL_ADDRESS at a closed port, as a shell may point it at production.
func TestServerDiesWithParent(t *testing.T) {
	t.Parallel()
	binary(t)
	t.Run("Embedded", func(t *testing.T) {
		t.Parallel()
		holder, s := newHolder(t, testsuite.ServerOptions{Binary: binary(t)})
		require.True(t, strings.HasPrefix(s.Source, "embedded Temporal "), s.Source)
		dial(t, s)
		require.NoError(t, holder.Process.Kill())
		eventually(t, "the server is gone", func() bool { return !alive(s.PID) && refuses(s.Address) })
	})
	t.Run("CLI", func(t *testing.T) {
		t.Parallel()
		holder, s := newHolder(t, testsuite.ServerOptions{})
		require.Contains(t, s.Source, "temporal CLI at ")
		start(t, dial(t, s), s, "on the CLI")
		require.NoError(t, holder.Process.Kill())
		eventually(t, "the server is gone", func() bool { return !alive(s.PID) && refuses(s.Address) })
	})
}

func TestServerCloseTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t, testsuite.ServerOptions{NoUI: true})
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	<-s.Done()
	require.True(t, refuses(s.Address))
}

func TestServerMissingBinary(t *testing.T) {
	t.Parallel()
	_, err := testsuite.StartServer(t.Context(), testsuite.ServerOptions{Binary: filepath.Join(t.TempDir(), "absent")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestServerHolder is not a test: it is the process that newHolder starts from this binary.
func TestServerHolder(t *testing.T) {
	config, ok := os.LookupEnv(holderEnv)
	if !ok {
		return
	}
	var opts testsuite.ServerOptions
	require.NoError(t, json.Unmarshal([]byte(config), &opts))
	s, err := testsuite.StartServer(context.Background(), opts)
	require.NoError(t, err)
	require.NoError(t, json.NewEncoder(os.Stdout).Encode(s))
	_, _ = io.Copy(io.Discard, os.Stdin)
	require.NoError(t, s.Close())
}

// newHolder starts a process that holds a server. It runs outside the repository, where no devserver is found, with a
// PATH whose temporal CLI is the devserver behind the CLI's flags.
func newHolder(t *testing.T, opts testsuite.ServerOptions) (*exec.Cmd, *testsuite.Server) {
	t.Helper()
	config, err := json.Marshal(opts)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	holder := exec.Command(self, "-test.run=^TestServerHolder$")
	holder.Dir = t.TempDir()
	holder.Env = append(os.Environ(), holderEnv+"="+string(config), "TEMPORAL_ADDRESS=127.0.0.1:1",
		"PATH="+fakeCLI(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	_, err = holder.StdinPipe()
	require.NoError(t, err)
	stdout, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	s := &testsuite.Server{}
	require.NoError(t, json.Unmarshal([]byte(line), s), line)
	return holder, s
}

// fakeCLI returns a directory with a temporal that takes the flags of "temporal server start-dev" and, like it, does not
// care about its stdin: a FIFO opened for both directions never reaches EOF.
func fakeCLI(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
[ "$1 $2" = "server start-dev" ] || exit 2
[ -z "$TEMPORAL_ADDRESS" ] || exit 3
shift 2
mkfifo %[1]s/fifo && exec 3<>%[1]s/fifo
for arg; do
  shift
  case $arg in --headless) arg=--no-ui ;; --db-filename) arg=--db ;; --dynamic-config-value) arg=--dynamic-config ;; esac
  set -- "$@" "$arg"
done
exec %[2]s "$@" <&3 >/dev/null
`, dir, binary(t))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal"), []byte(script), 0o700))
	return dir
}

func newServer(t *testing.T, opts testsuite.ServerOptions) *testsuite.Server {
	t.Helper()
	if opts.Reuse == "" {
		opts.Binary = binary(t)
	}
	s, err := testsuite.StartServer(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func binary(t *testing.T) string {
	t.Helper()
	services.Needed(t, "Temporal servers")
	path, err := filepath.Abs("../bin/devserver")
	require.NoError(t, err)
	require.FileExists(t, path, "run `make bin/devserver` first")
	return path
}

func dial(t *testing.T, s *testsuite.Server) sdkclient.Client {
	t.Helper()
	c, err := sdkclient.DialContext(t.Context(), sdkclient.Options{HostPort: s.Address, Namespace: s.Namespace})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// start starts a workflow with every search attribute of ours, which nobody runs.
func start(t *testing.T, c sdkclient.Client, s *testsuite.Server, id string) {
	t.Helper()
	_, err := c.ExecuteWorkflow(t.Context(), sdkclient.StartWorkflowOptions{
		ID: id, TaskQueue: job.QueueWorkflows,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(job.AttrJobType).ValueSet("email.send"),
			temporal.NewSearchAttributeKeyInt64(job.AttrAttempts).ValueSet(3),
		),
	}, job.WorkflowJob)
	require.NoError(t, err, s.Source)
}

func post(t *testing.T, address, body string) int {
	t.Helper()
	resp, err := http.Post(address, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func get(t *testing.T, address string) int {
	t.Helper()
	resp, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 15*time.Second, 50*time.Millisecond, what)
}

func refuses(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err != nil
}

// alive tells a running process from a zombie that nobody has reaped yet: the new parent of an orphan may be slow.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
