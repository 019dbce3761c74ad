package testsuite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// ErrNoServer means that there is no Temporal to run on; its text says what to do.
var ErrNoServer = errors.New("no Temporal server: build the embedded one with `make bin/devserver`, " +
	"put the temporal CLI on PATH, or name a running server in REDRIVE_TEST_TEMPORAL")

// Server is a Temporal that belongs to this process. Its fields do not change after StartServer.
type Server struct {
	Address     string // gRPC, host:port
	HTTPAddress string // base URL of the HTTP API; empty for a reused server
	UIAddress   string // base URL of the Web UI; empty without one and for a reused server
	Namespace   string
	Version     string // of the server, as it reports it
	Source      string // which server this is, for people
	PID         int    // of the process started for it; 0 for a reused server

	done  <-chan struct{}
	close func() error
}

// ServerOptions say which server to start and how. The zero value starts the embedded server, or a temporal CLI, in
// memory, on free ports, with the namespace "default".
type ServerOptions struct {
	// Reuse is the host:port of a running server. A fresh namespace is made there; only Retention applies besides.
	Reuse string
	// Binary is the devserver to run. Default: "devserver" beside this executable, then bin/devserver of the
	// repository that holds the working directory, then a temporal CLI on PATH.
	Binary string

	DB                     string // SQLite file, created when missing; empty keeps everything in memory
	Port, HTTPPort, UIPort int    // 0 chooses a free one
	NoUI                   bool
	UICodecEndpoint        string            // URL the Web UI decodes payloads with
	Namespace              string            // default "default"
	Retention              time.Duration     // of a namespace made here; default and minimum for a reused server 24h
	DynamicConfig          map[string]string // the server's dynamic configuration, values in YAML
	Logs                   io.Writer         // the server's stderr (errors only, as JSON lines); nil drops it
}

// StartServer returns a server that is ready for every kind of call. ctx bounds the start, not the server's life. The
// caller closes it. The error is ErrNoServer when there is nothing to start.
func StartServer(ctx context.Context, opts ServerOptions) (*Server, error) {
	opts = opts.withDefaults()
	if opts.Reuse != "" {
		return reuseServer(ctx, opts)
	}
	binary, err := opts.devserver()
	if err != nil {
		return nil, err
	}
	if binary != "" {
		return startEmbedded(ctx, binary, opts)
	}
	cli, err := exec.LookPath("temporal")
	if err != nil {
		return nil, ErrNoServer
	}
	return startCLI(ctx, cli, opts)
}

// Done is closed when the server's process has ended, by Close or on its own; for a reused server, by Close.
func (s *Server) Done() <-chan struct{} { return s.done }

// Close ends the server, or deletes the namespace made in a reused one. It returns within seconds and may be called
// more than once, also concurrently.
func (s *Server) Close() error {
	if err := s.close(); err != nil {
		return fmt.Errorf("close %s: %w", s.Source, err)
	}
	return nil
}

func (o ServerOptions) withDefaults() ServerOptions {
	if o.Namespace == "" {
		o.Namespace = "default"
	}
	if o.Retention == 0 {
		o.Retention = 24 * time.Hour
	}
	if o.Logs == nil {
		o.Logs = io.Discard
	}
	return o
}
