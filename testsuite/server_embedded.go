package testsuite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/redrivehq/redrive/job"
)

const modulePath = "github.com/redrivehq/redrive"

// devserver returns the binary to run, or "" when there is none and none was asked for.
func (o ServerOptions) devserver() (string, error) {
	if o.Binary != "" {
		if _, err := os.Stat(o.Binary); err != nil {
			return "", fmt.Errorf("devserver binary: %w", err)
		}
		return o.Binary, nil
	}
	var candidates []string
	if self, err := os.Executable(); err == nil {
		candidates = append(candidates, filepath.Join(filepath.Dir(self), "devserver"))
	}
	if root, err := repositoryRoot(); err == nil {
		candidates = append(candidates, filepath.Join(root, "bin", "devserver"))
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", nil
}

// repositoryRoot returns the directory above the working directory that holds this module's go.mod: go test runs a
// package's tests in the package's directory.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if line, _, _ := bytes.Cut(mod, []byte("\n")); string(bytes.TrimSpace(line)) == "module "+modulePath {
				return dir, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fs.ErrNotExist
		}
	}
}

// startEmbedded runs the devserver and takes its announcement, which it makes only when everything answers.
func startEmbedded(ctx context.Context, binary string, opts ServerOptions) (*Server, error) {
	announced := &announcement{line: make(chan []byte, 1)}
	cmd := exec.Command(binary, devserverArgs(opts)...)
	cmd.Stdout = announced
	p, err := startProcess(binary, cmd, opts.Logs)
	if err != nil {
		return nil, err
	}
	select {
	case line := <-announced.line:
		s := &Server{PID: cmd.Process.Pid, done: p.done, close: p.Close}
		if err := s.take(line); err != nil {
			return nil, errors.Join(fmt.Errorf("announcement of %s: %w", binary, err), p.Close())
		}
		return s, nil
	case <-p.done:
		return nil, p.ended()
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("start %s: %w", binary, ctx.Err()), p.Close())
	}
}

func (s *Server) take(line []byte) error {
	var a struct{ Address, HTTP, UI, Namespace, Version string }
	if err := json.Unmarshal(line, &a); err != nil {
		return err
	}
	s.Address, s.HTTPAddress, s.UIAddress, s.Namespace, s.Version = a.Address, a.HTTP, a.UI, a.Namespace, a.Version
	s.Source = "embedded Temporal " + a.Version
	return nil
}

func devserverArgs(opts ServerOptions) []string {
	args := []string{
		"--namespace=" + opts.Namespace,
		"--retention=" + opts.Retention.String(),
		"--port=" + strconv.Itoa(opts.Port),
		"--http-port=" + strconv.Itoa(opts.HTTPPort),
		"--ui-port=" + strconv.Itoa(opts.UIPort),
		"--no-ui=" + strconv.FormatBool(opts.NoUI),
		"--ui-codec-endpoint=" + opts.UICodecEndpoint,
		"--db=" + opts.DB,
	}
	for _, a := range job.SearchAttributes() {
		args = append(args, "--search-attribute="+a.Name+"="+a.Type)
	}
	for _, key := range slices.Sorted(maps.Keys(opts.DynamicConfig)) {
		args = append(args, "--dynamic-config="+key+"="+opts.DynamicConfig[key])
	}
	return args
}

// announcement is the devserver's stdout: its first line, and then nothing.
type announcement struct {
	buf  []byte
	line chan []byte
}

func (a *announcement) Write(p []byte) (int, error) {
	if a.buf = append(a.buf, p...); bytes.IndexByte(a.buf, '\n') >= 0 {
		select {
		case a.line <- a.buf:
			a.buf = nil
		default: // a second line: nobody reads it
		}
	}
	return len(p), nil
}
