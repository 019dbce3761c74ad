package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// enqueueFlags are those of `redrive enqueue`.
type enqueueFlags struct {
	payload, envelope string
	deadline          string
	wait              bool
	options           starter.EnqueueOptions
}

func newEnqueue(env *environment) *cobra.Command {
	var f enqueueFlags
	cmd := &cobra.Command{
		Use: "enqueue TYPE KEY", Short: "Start a job", Args: cobra.ArbitraryArgs,
		Long: `Start a job.

The key is the job's idempotency: enqueuing it again finds the job that has it and starts nothing. The same key with
another payload is refused (exit 3). The job exists once this returns; --wait stays for its result, and exits 1 when it
was dead-lettered.`,
		Example: `  redrive enqueue email.send order-1001.receipt --payload order.json
  redrive enqueue email.send order-1001.receipt --payload '{"to":"jo@shop.example","subject":"Paid","order_id":1001,"amount":12.5}'
  producer | redrive enqueue email.send order-1001.receipt --payload - --delay 15m
  redrive enqueue --envelope job.json --wait`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.payload, "payload", "", "`JSON`, a file that holds it, or - for stdin")
	flags.StringVar(&f.envelope, "envelope", "", "a whole envelope instead of TYPE, KEY and --payload; given like a payload")
	flags.DurationVar(&f.options.Delay, "delay", 0, "before the job starts")
	flags.StringVar(&f.deadline, "deadline", "", "when the job must be done: a `time` (RFC 3339), or a duration from now")
	flags.IntVar(&f.options.Priority, "priority", 0, "1 (first) to 5 (default 3)")
	flags.IntVar(&f.options.SchemaVersion, "schema-version", 0, "of the payload (default 1)")
	flags.StringArrayVar(&f.options.Tags, "tag", nil, "a tag; may be repeated")
	flags.StringVar(&f.options.Subject, "subject", "", "opaque id of the person the data is about")
	flags.BoolVar(&f.options.Vault, "vault", false, "keep the payload in the vault, out of Temporal's history")
	flags.BoolVar(&f.wait, "wait", false, "wait for the result")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		envelope, err := f.read(env, args)
		if err != nil {
			return err
		}
		if f.options.Deadline, err = parseDeadline(f.deadline, time.Now()); err != nil {
			return err
		}
		return enqueue(cmd.Context(), env, envelope, f)
	}
	return cmd
}

// read builds the envelope from what was given.
func (f *enqueueFlags) read(env *environment, args []string) (job.Envelope, error) {
	if f.envelope != "" {
		if len(args) > 0 || f.payload != "" {
			return job.Envelope{}, usagef("--envelope holds type, key and payload; give none of them beside it")
		}
		raw, err := env.readInput("--envelope", f.envelope)
		if err != nil {
			return job.Envelope{}, err
		}
		return job.ParseEnvelope(raw)
	}
	if len(args) != 2 || f.payload == "" {
		return job.Envelope{}, usagef("redrive enqueue needs TYPE, KEY and --payload, or --envelope")
	}
	raw, err := env.readInput("--payload", f.payload)
	if err != nil {
		return job.Envelope{}, err
	}
	return job.Envelope{Type: job.Type(args[0]), Key: job.Key(args[1]), Payload: raw}, nil
}

func parseDeadline(given string, now time.Time) (time.Time, error) {
	if given == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(given); err == nil {
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, given)
	if err != nil {
		return at, usagef("--deadline is %q, allowed are a time such as 2026-05-01T12:00:00Z and a duration such as 36h", given)
	}
	return at, nil
}

// started is what `redrive enqueue` prints.
type started struct {
	starter.Enqueued
	Result json.RawMessage `json:"result,omitempty"`
}

func enqueue(ctx context.Context, env *environment, envelope job.Envelope, f enqueueFlags) error {
	jobs, closeClient, err := env.starter(ctx)
	if err != nil {
		return err
	}
	defer closeClient()
	enqueued, err := jobs.Start(ctx, envelope, f.options)
	if err != nil {
		return err
	}
	if enqueued.Warning != "" {
		fmt.Fprintf(env.stderr, "warning: %s\n", printable(enqueued.Warning))
	}
	result := started{Enqueued: enqueued}
	if f.wait {
		if env.output == outputTable {
			sayEnqueued(env.stdout, enqueued)
		}
		if result.Result, err = jobs.Wait(ctx, enqueued.ID); err != nil {
			return err
		}
		result.State = job.StateCompleted
		return env.print(result, func(w io.Writer) { fmt.Fprintf(w, "result: %s\n", printable(string(result.Result))) })
	}
	return env.print(result, func(w io.Writer) { sayEnqueued(w, enqueued) })
}

func sayEnqueued(w io.Writer, e starter.Enqueued) {
	id := printable(e.ID.String())
	switch {
	case !e.Duplicate:
		fmt.Fprintf(w, "%s started\n", id)
	default:
		fmt.Fprintf(w, "%s exists already (%s); nothing was started\n", id, orDash(string(e.State)))
	}
	fmt.Fprintf(w, "workflow %s run %s\n", printable(e.WorkflowID), e.RunID)
}

// starter connects to Temporal for a producer's command.
func (e *environment) starter(ctx context.Context) (jobs *starter.Client, closeClient func(), err error) {
	settings, err := e.settings()
	if err != nil {
		return nil, nil, err
	}
	logger, err := e.logger(settings)
	if err != nil {
		return nil, nil, err
	}
	c, keys, err := e.connect(ctx, settings, logger)
	if err != nil {
		return nil, nil, err
	}
	jobs, err = newStarter(c, distantVault{settings, keys}, settings.JobPolicies(), logger)
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return jobs, c.Close, nil
}
