package pg

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// watchdog runs the server ($2…) and ends it on a word from its standard input: the name of a signal, after which the
// data stay. End of file means that the parent is gone, however it died: the server is stopped at once, and the directory
// ($1) goes too. The reader marks that case in a file, because the server's end may come before or after the reader's.
const watchdog = `
dir=$1; shift
exec 3<&0
"$@" </dev/null & server=$!
{
  if read -r how <&3; then :; else how=QUIT; : >"$dir/orphaned"; fi
  kill -s "$how" $server
} 2>/dev/null & reader=$!
wait $server; status=$?
kill $reader 2>/dev/null
if [ -e "$dir/orphaned" ]; then cd /; rm -rf "$dir"; fi
exit $status
`

// server is one run of the postgres program, under its watchdog.
type server struct {
	port   int
	log    string         // path of the server's log
	orders io.WriteCloser // to the watchdog; closing it is the order to end and to clean up

	done chan struct{} // closed once the watchdog, and so the server, has ended
}

func (c *Cluster) spawn() (*server, error) {
	s := &server{port: c.port, log: filepath.Join(c.dir, "log"), done: make(chan struct{})}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, fmt.Errorf("create postgresql log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", watchdog, "watchdog", c.dir, filepath.Join(c.bin, "postgres")}, c.settings()...)...)
	cmd.Dir = c.dir
	cmd.Env = environment()
	cmd.Stdout, cmd.Stderr = log, log // never the test's own: `go test` waits until everybody has closed that
	cmd.SysProcAttr = c.as.attributes()
	if s.orders, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start postgresql: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start postgresql: %w", err)
	}
	go func() {
		_ = cmd.Wait() // the log says why; see whyEnded
		close(s.done)
	}()
	return s, nil
}

func (c *Cluster) settings() []string {
	args := []string{"-D", c.data(), "-h", "127.0.0.1", "-p", strconv.Itoa(c.port)}
	for _, setting := range []string{
		"unix_socket_directories=", // loopback only: a socket's path may be too long for the kernel
		"max_connections=" + strconv.Itoa(c.opts.MaxConnections),
		"shared_buffers=32MB",
		"fsync=off", "synchronous_commit=off", "full_page_writes=off",
		"timezone=UTC", "log_timezone=UTC",
	} {
		args = append(args, "-c", setting)
	}
	return args
}

// end has the server stopped by a signal (INT: connections are broken, a checkpoint is written; QUIT: at once).
func (s *server) end(ctx context.Context, signal string) error {
	_, err := io.WriteString(s.orders, signal+"\n")
	if err != nil {
		select {
		case <-s.done: // ended by itself before
			return nil
		default:
			return fmt.Errorf("tell the watchdog of port %d: %w", s.port, err)
		}
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop postgresql on port %d: %w", s.port, ctx.Err())
	}
}

// whyEnded explains a server that ended during its start.
func (s *server) whyEnded() error {
	log, err := os.ReadFile(s.log)
	if err != nil {
		return fmt.Errorf("read postgresql log: %w", err)
	}
	if bytes.Contains(log, []byte("could not bind")) || bytes.Contains(log, []byte("could not create any TCP/IP sockets")) {
		return fmt.Errorf("postgresql on port %d: %w", s.port, errPortTaken)
	}
	return fmt.Errorf("postgresql on port %d ended at its start:\n%s", s.port, log)
}
