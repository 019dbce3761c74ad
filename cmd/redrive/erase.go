package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

// credentialCLI is how the audit log names whoever can read the store and the keyset.
const credentialCLI = "cli"

// eraseFlags say whose data, why, and how patient.
type eraseFlags struct {
	vault.ErasureRequest
	key, subject string
	id           job.KeyID // the key, read
	timeout      time.Duration
}

func newErase(env *environment) *cobra.Command {
	var f eraseFlags
	cmd := &cobra.Command{
		Use: "erase [ID]", Short: "Erase a job's data for good, by dead letter, job key or subject",
		Long: `Erase a job's data for good, by dead letter, job key or subject.

Its payloads in the vault go with the keys that open them, so do the redacted payloads, the results of its effects, and the
histories of its closed runs in Temporal. The dead letter stays with a tombstone that says when, by whom and why, and a later
replay is refused as payload_unavailable. A job with an open run is refused (exit 3) unless --cancel stops it first.

--subject finds the jobs that have a dead letter, or a payload in the vault, about that subject. Erasing is repeated without
harm. What it does not reach is in docs/security.md.`,
		Example: `  redrive dead-letters erase dl_ab2cd3ef4gh5ij6kl7mn2op3qr --reason 'request 4711'
  redrive dead-letters erase --key email.send:order-1001.receipt --reason 'request 4711' --cancel
  redrive dead-letters erase --subject user-77 --reason 'request 4711'`,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.key, "key", "", "the job as `type:key`; it need not have a dead letter")
	flags.StringVar(&f.subject, "subject", "", "every job about this `subject`")
	flags.StringVar(&f.Reason, "reason", "", "why (required)")
	flags.StringVar(&f.Actor, "actor", "", "who asks (default: $USER, else the name of the process's user)")
	flags.BoolVar(&f.Cancel, "cancel", false, "stop an open run first")
	flags.DurationVar(&f.timeout, "timeout", 2*time.Minute, "how long all of it may take")
	cmd.Args = func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.Actor == "" {
			f.Actor = env.actor()
		}
		f.At, f.Credential = time.Now().UTC(), credentialCLI
		ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
		defer cancel()
		return env.withEraser(ctx, func(e *vault.Eraser) error {
			jobs, err := env.erase(ctx, e, f, args)
			if err != nil {
				return err
			}
			return env.printErased(jobs)
		})
	}
	return cmd
}

func (f *eraseFlags) check(cmd *cobra.Command, args []string) (err error) {
	named := len(args)
	for _, flag := range []string{f.key, f.subject} {
		if flag != "" {
			named++
		}
	}
	switch {
	case named != 1:
		return usagef("%s needs one of ID, --key and --subject, %d are given", cmd.CommandPath(), named)
	case f.Reason == "":
		return usagef("%s needs --reason", cmd.CommandPath())
	case f.key != "":
		if f.id, err = parseKeyID(f.key); err != nil {
			return usagef("--key %q is not type:key: %w", f.key, err)
		}
	}
	return nil
}

// withEraser connects to the store and to Temporal.
func (e *environment) withEraser(ctx context.Context, use func(*vault.Eraser) error) error {
	return e.withTemporal(ctx, func(c connected) error {
		jobs, err := newStarter(c.client, vault.New(c.keys, c.store), c.settings.JobPolicies(), c.logger)
		if err != nil {
			return err
		}
		return use(vault.NewEraser(c.store, jobs, c.client.Namespace()))
	})
}

func (e *environment) erase(ctx context.Context, eraser *vault.Eraser, f eraseFlags, args []string) ([]vault.ErasedJob, error) {
	if f.subject != "" {
		return eraser.Subject(ctx, f.subject, f.ErasureRequest)
	}
	if f.key != "" {
		return one(eraser.Job(ctx, f.id, f.ErasureRequest))
	}
	name, err := e.deadLetter(args[0])
	if err != nil {
		return nil, err
	}
	done := eraser.DeadLetter(ctx, name.id, f.ErasureRequest)
	done.Err = e.explain(ctx, name, done.Err)
	return one(done)
}

// one returns the error of a single job as the command's own.
func one(done vault.ErasedJob) ([]vault.ErasedJob, error) {
	if errors.Is(done.Err, job.ErrJobOpen) {
		return nil, refusedf("%w (--cancel stops it)", done.Err)
	}
	return []vault.ErasedJob{done}, done.Err
}

// erasedLine is a job in JSON.
type erasedLine struct {
	vault.ErasedJob
	Complete bool   `json:"complete"`
	Error    string `json:"error,omitempty"`
}

// printErased fails when a job of several could not be erased: the others are, and the same command does the rest.
func (e *environment) printErased(jobs []vault.ErasedJob) error {
	lines := [][]string{{"JOB", "PAYLOADS", "RECORDS", "RESULTS", "RUNS", ""}}
	told := []erasedLine{} // an empty list, not null
	incomplete := 0
	for _, done := range jobs {
		line := erasedLine{ErasedJob: done, Complete: done.Err == nil}
		if done.Err != nil {
			incomplete++
			line.Error = done.Err.Error()
		}
		told = append(told, line)
		lines = append(lines, []string{
			done.ID.String(), strconv.Itoa(done.Payloads), strconv.Itoa(done.Records), strconv.Itoa(done.Results), strconv.Itoa(done.Runs), line.Error,
		})
	}
	err := e.print(struct {
		Jobs []erasedLine `json:"jobs"`
	}{told}, func(w io.Writer) {
		if len(told) == 0 {
			fmt.Fprintln(w, "no job is known to hold data about that subject")
			return
		}
		rows(w, lines)
	})
	if err == nil && incomplete > 0 {
		err = fmt.Errorf("%d of %s not erased; the same command may be repeated", incomplete, plural(len(jobs), "job"))
	}
	return err
}
