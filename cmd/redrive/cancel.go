package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
)

func newCancel(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "cancel TYPE KEY", Short: "Ask a running job to stop", Args: takes("TYPE", "KEY"),
		Long: `Ask a running job to stop.

Its handler is told with the next heartbeat and the job ends as canceled, without a dead letter. A job that is not running
is an error (exit 1): a dead letter is closed with ` + "`redrive dead-letters discard`.",
		Example: `  redrive cancel email.send order-1001.receipt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			id := job.KeyID{Type: job.Type(args[0]), Key: job.Key(args[1])}
			if err := id.Validate(); err != nil {
				return err
			}
			jobs, closeClient, err := env.starter(cmd.Context())
			if err != nil {
				return err
			}
			defer closeClient()
			// Temporal takes a cancel of a closed run without a word.
			state, err := jobs.State(cmd.Context(), id)
			if err != nil {
				return err
			}
			if state != job.StateRunning && state != job.StateReplaying {
				return fmt.Errorf("cancel %s: it is not running, it is %s", id, state)
			}
			if err := jobs.Cancel(cmd.Context(), id); err != nil {
				return err
			}
			return env.print(map[string]any{"id": id, "cancel": "requested"}, func(w io.Writer) {
				fmt.Fprintf(w, "%s was asked to stop\n", printable(id.String()))
			})
		},
	}
}
