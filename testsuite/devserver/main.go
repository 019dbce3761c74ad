// Command devserver is a whole Temporal in one process: frontend, history, matching and system workers over SQLite,
// the HTTP API and the Web UI, with the given namespaces and search attributes in place before it says that it is ready.
//
// It exists as a program of its own, in a module of its own, because the server and the newest SDK cannot share one
// dependency graph, and because tests should meet a server over a socket, as users do (docs/adr/0002).
//
// Contract with whoever starts it (package testsuite does):
//
//   - Once everything answers, it prints exactly one line of JSON on stdout (see announcement). Logs go to stderr.
//   - It ends when its stdin reaches EOF, so the parent keeps a pipe open and needs to do nothing else: however the parent
//     dies, SIGKILL included, the kernel closes the pipe. Started by hand with stdin from /dev/null it ends at once.
//   - SIGTERM and SIGINT end it too. Whatever ends it, it is gone after shutdownLimit.
//   - It binds loopback addresses only, calls nobody, and reads no environment variable.
//   - Exit codes: 0 told to end, 1 error (on stderr), 2 usage.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/server/common/headers"
)

// shutdownLimit bounds a clean stop. Whoever started a test must not wait longer for a port or a file to be free again.
const shutdownLimit = 5 * time.Second

// announcement is the line on stdout that says the server is ready.
type announcement struct {
	Address   string `json:"address"`      // gRPC, host:port
	HTTP      string `json:"http"`         // base URL of the HTTP API
	UI        string `json:"ui,omitempty"` // base URL of the Web UI
	Namespace string `json:"namespace"`    // the first one given
	Version   string `json:"version"`
	PID       int    `json:"pid"`
}

func main() {
	// The UI's web framework and some libraries print to os.Stdout; the announcement must stay its only line.
	stdout := os.Stdout
	os.Stdout = os.Stderr
	clearEnvironment()

	opts, err := parseOptions(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(2)
	}
	if err := run(untilTold(), opts, stdout); err != nil {
		fmt.Fprintln(os.Stderr, "devserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, opts options, stdout io.Writer) error {
	srv, err := start(opts)
	if err != nil {
		return err
	}
	defer srv.stop()
	if err := srv.awaitReady(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // told to end before it was ready
		}
		return err
	}
	opts = srv.opts // with the chosen ports
	line := announcement{
		Address: opts.addr(opts.port), HTTP: "http://" + opts.addr(opts.httpPort),
		Namespace: opts.namespaces[0], Version: headers.ServerVersion, PID: os.Getpid(),
	}
	if !opts.noUI {
		line.UI = "http://" + opts.addr(opts.uiPort)
	}
	if err := json.NewEncoder(stdout).Encode(line); err != nil {
		return fmt.Errorf("announce readiness: %w", err)
	}
	<-ctx.Done()
	return nil
}

// untilTold returns a context that ends on EOF of stdin, SIGTERM or SIGINT. From then on the process has shutdownLimit
// to live, wherever it is stuck: the server's own start cannot be interrupted.
func untilTold() context.Context {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	context.AfterFunc(ctx, func() {
		time.AfterFunc(shutdownLimit, func() { os.Exit(0) })
	})
	return ctx
}

// clearEnvironment keeps the surroundings out: OTEL_* would make the server export traces, LOCALHOST_IP would move its
// listeners, TEMPORAL_* belongs to clients. PATH-like variables go too; nothing here starts a program.
func clearEnvironment() {
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name != "TMPDIR" && name != "GOMAXPROCS" && name != "GOMEMLIMIT" && name != "GODEBUG" {
			_ = os.Unsetenv(name)
		}
	}
}
