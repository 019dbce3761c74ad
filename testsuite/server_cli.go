package testsuite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/redrivehq/redrive/job"
)

// lifeline runs a program that knows nothing of our pipe: the shell ends it when stdin reaches EOF. "read" is a builtin,
// so nothing is left when the program ends by itself.
const lifeline = `exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(read -r _ <&3; kill "$server"; sleep 5; kill -9 "$server") >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$server"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"`

// startCLI runs "temporal server start-dev" at path. It says nothing machine-readable, so the ports are ours and
// readiness is asked for.
func startCLI(ctx context.Context, path string, opts ServerOptions) (*Server, error) {
	if err := choosePorts(&opts.Port, &opts.HTTPPort, &opts.UIPort); err != nil {
		return nil, err
	}
	args, err := cliArgs(opts)
	if err != nil {
		return nil, err
	}
	shell := exec.Command("sh", append([]string{"-c", lifeline, "lifeline", path}, args...)...)
	p, err := startProcess(path, shell, opts.Logs)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Address: local(opts.Port), HTTPAddress: "http://" + local(opts.HTTPPort), Namespace: opts.Namespace,
		PID: p.cmd.Process.Pid, done: p.done, close: p.Close,
	}
	if !opts.NoUI {
		s.UIAddress = "http://" + local(opts.UIPort)
	}
	if err := awaitCLI(ctx, p, s); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	s.Source = fmt.Sprintf("temporal CLI at %s, server %s", path, s.Version)
	return s, nil
}

// awaitCLI returns once s is ready, or its process has ended.
func awaitCLI(ctx context.Context, p *process, s *Server) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	go func() {
		select {
		case <-p.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	n, err := connect(ctx, s.Address, s.Namespace)
	if err == nil {
		defer n.client.Close()
		err = errors.Join(n.complete(ctx), answersHTTP(ctx, s.HTTPAddress, s.UIAddress))
		s.Version = n.version(ctx)
	}
	select {
	case <-p.done:
		return p.ended()
	default:
		return err
	}
}

func cliArgs(opts ServerOptions) ([]string, error) {
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--log-level", "error", "--namespace", opts.Namespace,
		"--port", strconv.Itoa(opts.Port), "--http-port", strconv.Itoa(opts.HTTPPort),
		"--ui-port", strconv.Itoa(opts.UIPort),
		// The check asks a server on the internet once a day.
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
	}
	if opts.NoUI {
		args = append(args, "--headless")
	}
	if opts.DB != "" {
		args = append(args, "--db-filename", opts.DB)
	}
	if opts.UICodecEndpoint != "" {
		args = append(args, "--ui-codec-endpoint", opts.UICodecEndpoint)
	}
	for _, a := range job.SearchAttributes() {
		args = append(args, "--search-attribute", a.Name+"="+a.Type)
	}
	for _, key := range slices.Sorted(maps.Keys(opts.DynamicConfig)) {
		value := opts.DynamicConfig[key]
		if !json.Valid([]byte(value)) { // the CLI takes JSON where the devserver takes YAML
			quoted, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("dynamic config %s: %w", key, err)
			}
			value = string(quoted)
		}
		args = append(args, "--dynamic-config-value", key+"="+value)
	}
	return args, nil
}

// choosePorts fills in the zero ones. All listeners are open together, so the ports differ.
func choosePorts(ports ...*int) error {
	for _, port := range ports {
		if *port != 0 {
			continue
		}
		l, err := net.Listen("tcp", local(0))
		if err != nil {
			return fmt.Errorf("choose a port: %w", err)
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return nil
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
