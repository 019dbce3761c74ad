package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
)

// requestFlags are those of the operators' requests.
type requestFlags struct {
	job.Request
	wait        bool
	waitTimeout time.Duration
	timeout     time.Duration
}

func newReplay(env *environment) *cobra.Command {
	var f requestFlags
	cmd := requestCommand(env, job.RequestReplay, &f)
	cmd.Short = "Run the job again under its original key"
	cmd.Long = cmd.Short + `.

It is refused (exit 3, with a code) while no worker polls the job type's lane, while another replay runs, too soon after
one that failed again, and, where the failure needs a repair, for the handler versions that failed. --wait stays for the
outcome: exit 0 when it resolved the dead letter, 1 when the job failed again or --wait-timeout has passed. Whoever stops
waiting does not stop the replay.`
	cmd.Example = `  redrive dead-letters replay dl_ab2cd3ef4gh5ij6kl7mn2op3qr --reason 'amounts are parsed now'
  redrive dead-letters replay email.send:order-1001.receipt --reason 'deployed v2' --fixed-version v2 --wait`
	cmd.Flags().StringVar(&f.Fixed, "fixed-version", "", "the only handler `version` that may run it")
	cmd.Flags().StringVar(&f.Defect, "defect", "", "what was wrong, for the record")
	cmd.Flags().BoolVar(&f.Force, "force", false, "run it although nothing was repaired")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait for the outcome")
	cmd.Flags().DurationVar(&f.waitTimeout, "wait-timeout", 10*time.Minute, "with --wait: how long")
	return cmd
}

func newDiscard(env *environment) *cobra.Command {
	var f requestFlags
	cmd := requestCommand(env, job.RequestDiscard, &f)
	cmd.Short = "Close a dead letter without a replay"
	cmd.Example = `  redrive dead-letters discard dl_ab2cd3ef4gh5ij6kl7mn2op3qr --reason 'order was canceled by phone'`
	return cmd
}

func newAnnotate(env *environment) *cobra.Command {
	var f requestFlags
	cmd := requestCommand(env, job.RequestAnnotate, &f)
	cmd.Short = "Add a note to a dead letter"
	cmd.Example = `  redrive dead-letters annotate dl_ab2cd3ef4gh5ij6kl7mn2op3qr --text 'asked the shop, answer on Monday'`
	return cmd
}

// requestCommand is what the requests have in common.
func requestCommand(env *environment, kind job.RequestKind, f *requestFlags) *cobra.Command {
	cmd := &cobra.Command{Use: string(kind) + " ID"}
	flags := cmd.Flags()
	flags.StringVar(&f.Actor, "actor", "", "who asks (default: $USER, else the name of the process's user)")
	if kind == job.RequestAnnotate {
		flags.StringVar(&f.Text, "text", "", "the note (required)")
	} else {
		flags.StringVar(&f.Reason, "reason", "", "why (required)")
	}
	flags.StringVar(&f.RequestID, "request-id", "", "makes the request idempotent (default: a new one)")
	flags.DurationVar(&f.timeout, "timeout", 15*time.Second, "how long to wait for the decision")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if f.Actor == "" {
			f.Actor = env.actor()
		}
		if missing := f.missing(kind, args); len(missing) > 0 {
			return usagef("%s needs %s", cmd.CommandPath(), strings.Join(missing, " and "))
		}
		return takes("ID")(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.Validate(kind); err != nil {
			return usagef("%w", err)
		}
		name, err := env.deadLetter(args[0])
		if err != nil {
			return err
		}
		return env.withReplay(cmd.Context(), func(c *replay.Client) error {
			return env.explain(cmd.Context(), name, env.request(cmd.Context(), c, name.id, kind, *f))
		})
	}
	return cmd
}

// actor is who runs the program, as far as that can be told: a container's user often has no name.
func (e *environment) actor() string {
	if name := e.getenv("USER"); strings.TrimSpace(name) != "" {
		return name
	}
	current, err := user.Current()
	if err != nil {
		return ""
	}
	return current.Username
}

// missing names all that is required and was not given, as it is given.
func (f *requestFlags) missing(kind job.RequestKind, args []string) []string {
	var names []string
	if len(args) == 0 {
		names = append(names, "ID")
	}
	if strings.TrimSpace(f.Actor) == "" {
		names = append(names, "--actor (neither $USER nor the system names the user)")
	}
	switch {
	case kind == job.RequestAnnotate && strings.TrimSpace(f.Text) == "":
		names = append(names, "--text")
	case kind != job.RequestAnnotate && strings.TrimSpace(f.Reason) == "":
		names = append(names, "--reason")
	}
	if kind == job.RequestReconcile && f.Effect == "" {
		names = append(names, "--effect")
	}
	if kind == job.RequestReconcile && f.Happened == nil {
		names = append(names, "--happened")
	}
	return names
}

// withReplay connects to the store and to Temporal.
func (e *environment) withReplay(ctx context.Context, use func(*replay.Client) error) error {
	return e.withTemporal(ctx, func(c connected) error { return use(replay.New(c.client, c.store)) })
}

// answered is what a request command prints.
type answered struct {
	job.Decision
	Pending bool              `json:"pending,omitempty"`
	Outcome *job.ReplayRecord `json:"outcome,omitempty"`
}

// request sends, waits for the decision, and with --wait for the outcome.
func (e *environment) request(ctx context.Context, c *replay.Client, id job.DeadLetterID, kind job.RequestKind, f requestFlags) error {
	requestID, err := c.Send(ctx, id, kind, f.Request)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	decision, err := c.Await(limited, id, kind, requestID)
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return e.sayPending(id, kind, requestID, f.timeout)
	case err != nil:
		return err
	case !decision.Accepted:
		return e.sayRefused(kind, decision)
	}
	result := answered{Decision: decision}
	if e.output == outputTable {
		e.sayAccepted(id, kind, decision)
	}
	if f.wait {
		outcome, err := e.awaitOutcome(ctx, c, id, decision.Replay, f.waitTimeout)
		if errors.Is(err, errStillRunning) && e.output == outputJSON {
			err = errors.Join(e.print(result, nil), err)
		}
		if err != nil {
			return err
		}
		result.Outcome = &outcome
	}
	if err := e.print(result, func(w io.Writer) { sayOutcome(w, result.Outcome) }); err != nil {
		return err
	}
	switch {
	case result.Outcome == nil || result.Outcome.Outcome == job.OutcomeResolved:
		return nil
	case result.Outcome.Outcome == job.OutcomeRefused: // by the runner: another build took it
		return &exit{code: exitRefused}
	default:
		return &exit{code: exitFailed}
	}
}

// errStillRunning ends the waiting for a replay, not the replay.
var errStillRunning = errors.New("is still running")

// progressEvery is between two signs of life while somebody waits.
const progressEvery = 10 * time.Second

// awaiter waits for the outcome of a replay.
type awaiter interface {
	AwaitOutcome(ctx context.Context, id job.DeadLetterID, number int) (job.ReplayRecord, error)
}

// awaitOutcome says every now and then that it waits, on stderr. The error wraps errStillRunning after limit.
func (e *environment) awaitOutcome(ctx context.Context, c awaiter, id job.DeadLetterID, number int, limit time.Duration) (job.ReplayRecord, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	started := time.Now()
	ended := make(chan struct{})
	told := make(chan struct{})
	go func() {
		defer close(told)
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				fmt.Fprintf(e.stderr, "replay %d is running, %.0f s\n", number, time.Since(started).Seconds())
			}
		}
	}()
	outcome, err := c.AwaitOutcome(limited, id, number)
	close(ended)
	<-told
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return outcome, fmt.Errorf("replay %d %w after %s and goes on; look with `redrive dead-letters show %s`", number, errStillRunning, limit, id)
	}
	return outcome, err
}

func (e *environment) sayAccepted(id job.DeadLetterID, kind job.RequestKind, d job.Decision) {
	if kind == job.RequestReplay {
		fmt.Fprintf(e.stdout, "replay %d of %s accepted\n", d.Replay, printable(string(id)))
		return
	}
	fmt.Fprintf(e.stdout, "%s accepted for %s\n", kind, printable(string(id)))
}

func sayOutcome(w io.Writer, outcome *job.ReplayRecord) {
	if outcome == nil {
		return
	}
	fmt.Fprintf(w, "replay %d %s", outcome.Number, outcome.Outcome)
	if outcome.Detail != "" {
		fmt.Fprintf(w, ": %s", printable(outcome.Detail))
	}
	fmt.Fprintln(w)
}

// sayRefused leaves the decision on stdout for programs, and code and sentence on stderr for people.
func (e *environment) sayRefused(kind job.RequestKind, d job.Decision) error {
	if e.output == outputJSON {
		if err := e.print(answered{Decision: d}, nil); err != nil {
			return err
		}
	}
	if d.Refusal == nil {
		return refusedf("%s refused", kind)
	}
	return refusedf("%s refused, %s: %s", kind, d.Refusal.Code, d.Refusal.Detail)
}

// sayPending is a failure: nobody knows yet whether the request is accepted. It is durable all the same.
func (e *environment) sayPending(id job.DeadLetterID, kind job.RequestKind, requestID string, waited time.Duration) error {
	if e.output == outputJSON {
		pending := answered{Decision: job.Decision{RequestID: requestID, DeadLetterID: id}, Pending: true}
		if err := e.print(pending, nil); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was sent and is durable, but not decided within %s (does a worker run?); "+
		"ask again with --request-id %s, or see `redrive dead-letters show %s`", kind, waited, requestID, id)
}
