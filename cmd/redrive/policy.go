package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/job"
)

// checked is what `redrive policy check` says of a good file.
type checked struct {
	File  string     `json:"file"`
	Types []job.Type `json:"types"`
}

func newPolicy(env *environment) *cobra.Command {
	cmd := group("policy", "Look at the policies of job types", "")
	var alone bool
	check := &cobra.Command{
		Use: "check FILE", Short: "Say whether a redrive.yaml would start", Args: takes("FILE"),
		Long: `Say whether a redrive.yaml would start.

Every complaint has its line: unknown keys, numbers out of range, numbers that contradict each other, redaction rules
that do not compile. REDRIVE_* variables are left aside. Exit 1 when there is a complaint.`,
		Example: `  redrive policy check redrive.yaml
  redrive policy check --redaction p.yaml   # a file for redrive redact --policy`,
		RunE: func(_ *cobra.Command, args []string) error {
			if alone {
				return env.checkRedaction(args[0])
			}
			settings, err := config.Load(args[0], nil)
			if err != nil {
				return err
			}
			result := checked{File: args[0], Types: []job.Type{}}
			for t := range settings.Policies.Types {
				result.Types = append(result.Types, t)
			}
			slices.Sort(result.Types)
			return env.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s is fine: a default policy and %d job types\n", printable(result.File), len(result.Types))
			})
		},
	}
	check.Flags().BoolVar(&alone, "redaction", false, "FILE is a redaction policy by itself, not a redrive.yaml")
	cmd.AddCommand(check)
	return cmd
}
