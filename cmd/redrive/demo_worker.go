package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// demoWorker is a worker process of the demo: this program again, as `redrive worker`.
type demoWorker struct {
	version string
	command *exec.Cmd
	stdin   io.Closer // the worker ends when it is closed, so none outlives a demo that was killed
	log     *os.File
	ended   chan error
}

// startWorker starts a worker process of a handler version. It stops gracefully on stop, or is killed.
func (d *demo) startWorker(version string) (*demoWorker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("demo worker: %w", err)
	}
	log, err := os.Create(filepath.Join(d.stack.DataDir, fmt.Sprintf("worker-%d.log", len(d.workers)+1)))
	if err != nil {
		return nil, fmt.Errorf("demo worker: %w", err)
	}
	command := exec.Command(program, "worker", "--config", d.config, "--handler-version", version, "--until-stdin-ends") //nolint:gosec,noctx // ourselves; it ends with our end of the pipe
	command.Env = append(cleanEnvironment(os.Environ()),
		"TEMPORAL_ADDRESS="+d.stack.Server.Address,
		"TEMPORAL_NAMESPACE="+d.stack.Server.Namespace,
		"REDRIVE_STORE="+d.stack.StoreURL,
		"REDRIVE_VAULT_KEYSET="+d.stack.KeysetFile,
		"REDRIVE_SAMPLE_OUTBOX="+d.outbox,
		"REDRIVE_LOG_FORMAT=json",
	)
	command.Stdout, command.Stderr = log, log
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("demo worker: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("demo worker: %w", err)
	}
	w := &demoWorker{version: version, command: command, stdin: stdin, log: log, ended: make(chan error, 1)}
	go func() { w.ended <- command.Wait() }()
	d.workers = append(d.workers, w)
	return w, nil
}

// cleanEnvironment drops what would lead a worker to another Temporal or store than the demo's.
func cleanEnvironment(environ []string) []string {
	var kept []string
	for _, pair := range environ {
		if !strings.HasPrefix(pair, "TEMPORAL_") && !strings.HasPrefix(pair, "REDRIVE_") {
			kept = append(kept, pair)
		}
	}
	return kept
}

func (w *demoWorker) pid() int { return w.command.Process.Pid }

// stop asks the process to drain and waits for its end.
func (w *demoWorker) stop(ctx context.Context) error {
	closed := w.stdin.Close()
	select {
	case err := <-w.ended:
		w.ended <- nil
		var exited *exec.ExitError
		if errors.As(err, &exited) && exited.ExitCode() == -1 {
			err = nil // it was killed before, as the story wants
		}
		return errors.Join(ignoreClosed(closed), err, ignoreClosed(w.log.Close()))
	case <-ctx.Done():
		return errors.Join(ctx.Err(), w.kill())
	}
}

// kill ends the process at once, as a crash or an out-of-memory kill does.
func (w *demoWorker) kill() error { return w.command.Process.Kill() }

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
