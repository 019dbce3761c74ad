package main

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
)

// reconcileFlags become part of the request once all flags are known.
type reconcileFlags struct {
	happened string
	result   string
}

func newReconcile(env *environment) *cobra.Command {
	var f requestFlags
	var given reconcileFlags
	cmd := requestCommand(env, job.RequestReconcile, &f)
	cmd.Short = "Say whether an effect happened of which nobody knows"
	cmd.Long = cmd.Short + `.

A job whose worker died between an effect and its record is parked as unknown_outcome, and is not replayed before every
such effect is settled; ` + "`show`" + ` names them. Ask the system that was called, then say what it knows:

  --happened true   records the effect as done: a replay does not apply it again, and gets --result
  --happened false  frees the effect: a replay applies it

The result is kept in clear, as all results in the ledger are. Without one, a handler that needs it fails; reconcile the
effect once more to bring it.`
	cmd.Example = `  redrive dead-letters reconcile dl_ab2cd3ef4gh5ij6kl7mn2op3qr --effect charge --happened true --result '"ch_81"' --reason 'the bank lists it'
  redrive dead-letters reconcile email.send:order-1001.receipt --effect mail --happened false --reason 'not in the outbox'`
	cmd.Flags().StringVar(&f.Effect, "effect", "", "the `name` of the effect (required)")
	cmd.Flags().StringVar(&given.happened, "happened", "", "whether it happened: `true|false` (required)")
	cmd.Flags().StringVar(&given.result, "result", "", "with --happened true: what the effect returned, as `JSON`")
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := given.apply(&f.Request); err != nil {
			return err
		}
		return check(cmd, args)
	}
	return cmd
}

func (g reconcileFlags) apply(r *job.Request) error {
	if g.happened != "" {
		happened, err := strconv.ParseBool(g.happened)
		if err != nil {
			return usagef("--happened is %q, allowed are true and false", g.happened)
		}
		r.Happened = &happened
	}
	if g.result != "" {
		r.Result = json.RawMessage(g.result)
		if !json.Valid(r.Result) {
			return usagef(`--result is not JSON; a text needs its quotes, such as --result '"ch_81"'`)
		}
	}
	return nil
}
