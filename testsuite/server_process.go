package testsuite

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Time a process gets to end after its stdin closed, before it is killed. The devserver ends itself after 5s.
const closeLimit = 7 * time.Second

// process is a server process whose life hangs on a pipe: it holds the read end as stdin and ends on EOF. The kernel
// closes our end however we die, on every system. Linux's parent-death signal is not used: it fires when the OS *thread*
// that forked ends, which the Go runtime may do at any time, and it has no counterpart elsewhere.
//
// The process has its own process group, so that Ctrl-C reaches only us and a draining worker still has its Temporal.
type process struct {
	name   string // for errors
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *tail
	done   chan struct{} // closed after err is set
	err    error         // of Wait
	end    func() error
}

func startProcess(name string, cmd *exec.Cmd, logs io.Writer) (*process, error) {
	p := &process{name: name, cmd: cmd, stderr: &tail{}, done: make(chan struct{})}
	p.end = sync.OnceValue(p.stop)
	cmd.Env = withoutTemporal(os.Environ())
	cmd.Stderr = io.MultiWriter(p.stderr, logs)
	cmd.WaitDelay = time.Second // a grandchild that keeps stderr open must not block Wait
	ownGroup(cmd)
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Close ends the process and returns when it is gone.
func (p *process) Close() error { return p.end() }

func (p *process) stop() error {
	_ = p.stdin.Close()
	select {
	case <-p.done:
		return nil
	case <-time.After(closeLimit):
		_ = killGroup(p.cmd)
		<-p.done
		return fmt.Errorf("killed: it did not end within %s", closeLimit)
	}
}

// ended describes a process that ended before it was ready, with its last words.
func (p *process) ended() error {
	return fmt.Errorf("%s ended before it was ready: %v: %s", p.name, p.err, p.stderr)
}

// withoutTemporal removes what addresses a server (TEMPORAL_ADDRESS and its kin) or sends telemetry (OTEL_*).
func withoutTemporal(env []string) []string {
	kept := []string{}
	for _, kv := range env {
		if !strings.HasPrefix(kv, "TEMPORAL_") && !strings.HasPrefix(kv, "OTEL_") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 2048

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.buf))
}
