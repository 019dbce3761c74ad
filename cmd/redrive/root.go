package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	env := &environment{stdin: stdin, stdout: stdout, stderr: stderr, getenv: getenv}
	root := newRoot(env)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil && unknownHelp(command) {
		err = unknownCommand(command, command.Flags().Arg(0))
	}
	code := exitCode(err)
	if err != nil {
		complain(stderr, err)
	}
	if code == exitUsage {
		fmt.Fprintf(stderr, "see `%s --help`\n", command.CommandPath())
	}
	return code
}

func newRoot(env *environment) *cobra.Command {
	root := group("redrive", "Background jobs on Temporal, and what to do about those that fail for good", `
Jobs that can never succeed become dead letters: redacted, durable records that operators look at and replay.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused.

Settings come from redrive.yaml (--config, REDRIVE_CONFIG, or the one in this directory) and REDRIVE_* variables; the
connection to Temporal from Temporal's own: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS…,
TEMPORAL_PROFILE.`)
	root.Example = `  redrive dev                                        # try it: the whole stack on this machine
  redrive enqueue email.send order-1001.receipt --payload order.json
  redrive dead-letters list
  redrive dead-letters replay dl_ab2c… --reason 'amounts are parsed now'`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usagef("%w", plainFlagError(err)) })
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if !unknownHelp(cmd) {
			help(cmd, args)
		}
	})
	flags := root.PersistentFlags()
	flags.StringVar(&env.configFile, "config", "", "the configuration `file` (default: $REDRIVE_CONFIG, else redrive.yaml if it exists)")
	flags.StringVarP(&env.output, "output", "o", outputTable, "how results are written: table or json")
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return env.checkOutput() }
	root.AddCommand(
		newDev(env), newWorker(env), newAdmin(env),
		newEnqueue(env), newCancel(env), newDeadLetters(env),
		newMigrate(env), newAudit(env), newPolicy(env), newRedact(env), newKeys(env), newVersion(env),
	)
	return root
}

// group is a command that only holds others. Without one, or with one that does not exist, it says which there are.
func group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: short + ".\n" + long, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s needs a command: %s", cmd.CommandPath(), subcommands(cmd))
			}
			return unknownCommand(cmd, args[0])
		},
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	return usagef("%s has no command %q, there are: %s", cmd.CommandPath(), name, subcommands(cmd))
}

// unknownHelp tells whether the help of a command that does not exist was asked for, in which cobra sees the group's.
func unknownHelp(cmd *cobra.Command) bool { return cmd.HasSubCommands() && cmd.Flags().NArg() > 0 }

// plainFlagError says of a value that a flag cannot take which it can, in place of the parser's own words.
func plainFlagError(err error) error {
	var invalid interface{ GetValue() string } // pflag's InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	var number *strconv.NumError
	wanted := "a duration such as 30s, 15m or 2h"
	switch {
	case errors.As(err, &number) && number.Func == "ParseBool":
		wanted = "true or false"
	case errors.As(err, &number) && errors.Is(err, strconv.ErrRange):
		wanted = "a smaller number"
	case errors.As(err, &number):
		wanted = "a whole number"
	}
	said, _, _ := strings.Cut(err.Error(), " flag: ")
	return fmt.Errorf("%s: allowed is %s", said, wanted)
}

func subcommands(cmd *cobra.Command) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			names = append(names, sub.Name())
		}
	}
	return strings.Join(names, ", ")
}

// takes checks the number of arguments and names those that are missing.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s needs %s", cmd.CommandPath(), strings.Join(names[len(args):], " and "))
		case len(args) > len(names):
			return usagef("%s takes %d arguments, %q is one too many", cmd.CommandPath(), len(names), args[len(names)])
		}
		return nil
	}
}
