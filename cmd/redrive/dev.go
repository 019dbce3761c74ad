package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// devFlags are those of `redrive dev`.
type devFlags struct {
	stackOptions
	json, demo, stay bool
	report           string
}

func newDev(env *environment) *cobra.Command {
	var f devFlags
	cmd := &cobra.Command{
		Use: "dev", Short: "Run the whole stack on this machine: Temporal, store, worker, admin API", Args: takes(),
		Long: `Run the whole stack on this machine: an embedded Temporal with its Web UI, a SQLite store, a worker, the admin API.

Everything listens on loopback and is kept in one directory. TEMPORAL_ADDRESS is never touched; REDRIVE_TEST_TEMPORAL
names another server to use, in a fresh namespace. Ctrl-C ends it.

The worker runs handler version v1, whose email.send has a defect on purpose: it refuses amounts that are texts. A worker
of any other version takes them, so a dead letter can be made, looked at and replayed.`,
		Example: `  redrive dev
  redrive dev --in-memory      # nothing is kept
  redrive dev --demo           # the whole story by itself; the exit code tells
  redrive dev --json           # one line when ready, for scripts`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.DataDir, "data", ".data", "the `directory` for databases and keys")
	flags.BoolVar(&f.InMemory, "in-memory", false, "keep nothing: Temporal in memory, the rest in a temporary directory")
	flags.BoolVar(&f.NoWorker, "no-worker", false, "run no worker")
	flags.StringVar(&f.HandlerVersion, "handler-version", "v1", "the `name` of the worker's build")
	flags.StringVar(&f.AdminListen, "admin-listen", "127.0.0.1:0", "the admin API's `address`; port 0 takes a free one")
	flags.IntVar(&f.Port, "temporal-port", 0, "Temporal's `port` (default: a free one)")
	flags.IntVar(&f.UIPort, "ui-port", 0, "the Web UI's `port` (default: a free one)")
	flags.BoolVar(&f.json, "json", false, "print one line of JSON when ready")
	flags.BoolVar(&f.demo, "demo", false, "tell the whole story, then end")
	flags.BoolVar(&f.stay, "stay", false, "with --demo: stay up afterwards")
	flags.StringVar(&f.report, "report", "", "with --demo: write what was counted to this `file`, as JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// A server of somebody else's gives a fresh namespace; letters of earlier ones would be nobody's.
		if passing := f.InMemory || env.getenv("REDRIVE_TEST_TEMPORAL") != ""; passing && !cmd.Flags().Changed("data") {
			f.DataDir = ""
		}
		return f.run(cmd.Context(), env)
	}
	return cmd
}

func (f devFlags) run(ctx context.Context, env *environment) error {
	switch {
	case !f.demo && (f.stay || f.report != ""):
		return usagef("--stay and --report go with --demo")
	case !f.demo:
		return runDev(ctx, env, f)
	}
	code, err := runDemo(ctx, env, demoOptions{Stack: f.stackOptions, Stay: f.stay, Report: f.report})
	if err != nil || code != exitDone {
		return &exit{max(code, exitFailed), err}
	}
	return nil
}

// runDev runs the stack until ctx ends.
func runDev(ctx context.Context, env *environment, f devFlags) (err error) {
	s, err := startStack(ctx, env, f.stackOptions)
	if err != nil {
		if ctx.Err() != nil {
			return nil // interrupted while it started: what was started has ended
		}
		return err
	}
	defer func() {
		if closed := s.Close(); err == nil {
			err = closed
		}
	}()
	if err := s.announce(env.stdout, f.json || env.output == outputJSON); err != nil {
		return err
	}
	return s.wait(ctx)
}

// wait returns nil when ctx ends, and an error when a part of the stack ends before.
func (s *stack) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.Server.Done():
		return fmt.Errorf("%s ended by itself", s.Server.Source)
	case err := <-s.admin.failed:
		return fmt.Errorf("serve the admin API: %w", err)
	}
}

// announced is the line for scripts.
type announced struct {
	Temporal  string `json:"temporal"`
	HTTP      string `json:"temporal_http"`
	UI        string `json:"ui"`
	Admin     string `json:"admin"`
	Namespace string `json:"namespace"`
	Store     string `json:"store"`
	Keyset    string `json:"keyset"`
	Env       string `json:"env"` // a file for a shell to source
}

// announce says that the stack is ready.
func (s *stack) announce(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(announced{
			Temporal: s.Server.Address, HTTP: s.Server.HTTPAddress, UI: s.Server.UIAddress, Admin: s.AdminURL,
			Namespace: s.Server.Namespace, Store: s.StoreURL, Keyset: s.KeysetFile, Env: s.EnvFile,
		})
	}
	fmt.Fprintf(w, `redrive is up (%[1]s)

  Temporal Web UI   %[2]s
  Temporal          %[3]s, namespace %[4]s
  Temporal HTTP API %[9]s
  admin API         %[5]s
  store             %[6]s

Try, in another terminal:

  . %[7]s
  %[8]s enqueue email.send order-1 --payload '{"to":"jo@shop.example","subject":"Paid","order_id":1,"amount":"12.50"}' --wait
  %[8]s dead-letters show email.send:order-1
  %[8]s worker --handler-version v2 &
  %[8]s dead-letters replay email.send:order-1 --reason 'v2 reads amounts that are texts' --wait

Ctrl-C ends it.
`, s.Server.Source, orDash(s.Server.UIAddress), s.Server.Address, s.Server.Namespace, s.AdminURL, s.StoreURL,
		shellWord(s.EnvFile), programName(), orDash(s.Server.HTTPAddress))
	return nil
}

// announceDemo says where to look at what the demo left.
func (s *stack) announceDemo(w io.Writer) {
	link := "-" // a server of somebody else's has no Web UI that we know of
	if s.Server.UIAddress != "" {
		link = fmt.Sprintf("%s/namespaces/%s/workflows/%s",
			s.Server.UIAddress, url.PathEscape(s.Server.Namespace), url.QueryEscape(demoSick.ReplayWorkflowID()))
	}
	fmt.Fprintf(w, `
redrive stays up (%[1]s)

  Temporal Web UI   %[2]s
  the dead letter   %[3]s
  Temporal          %[4]s, namespace %[5]s
  Temporal HTTP API %[6]s
  admin API         %[7]s
  store             %[8]s

Look around, in another terminal:

  . %[9]s
  %[10]s dead-letters list
  %[10]s dead-letters show %[11]s

Ctrl-C ends it, and the data is removed on exit.
`, s.Server.Source, orDash(s.Server.UIAddress), link, s.Server.Address, s.Server.Namespace, orDash(s.Server.HTTPAddress),
		s.AdminURL, s.StoreURL, shellWord(s.EnvFile), programName(), demoSick)
}

// shellWord quotes what a shell would split.
func shellWord(text string) string {
	if strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+", r)
	}) < 0 {
		return text
	}
	return shellQuote(text)
}

func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// programName is how this program was called.
func programName() string {
	if len(os.Args) == 0 || os.Args[0] == "" {
		return "redrive"
	}
	return os.Args[0]
}
