package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/store/open"
)

// schema is what `redrive migrate` says.
type schema struct {
	Have    int64 `json:"have"`
	Want    int64 `json:"want"`
	Current bool  `json:"current"`
}

func newMigrate(env *environment) *cobra.Command {
	var statusOnly bool
	cmd := &cobra.Command{
		Use: "migrate", Short: "Bring the store's schema to this build's version", Args: takes(),
		Long: `Bring the store's schema to this build's version.

Run it before the first worker and before a newer build. It may run any number of times, also at once.`,
		Example: `  redrive migrate
  redrive migrate --status`,
	}
	cmd.Flags().BoolVar(&statusOnly, "status", false, "only say which version there is; exit 1 when it is not this build's")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		settings, err := env.settings()
		if err != nil {
			return err
		}
		db, err := open.Unprepared(settings.Store.URL)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		if !statusOnly {
			if err := db.Migrate(cmd.Context()); err != nil {
				return err
			}
		}
		have, want, err := db.SchemaVersion(cmd.Context())
		if err != nil {
			return err
		}
		s := schema{Have: have, Want: want, Current: have == want}
		if err := env.print(s, func(w io.Writer) {
			fmt.Fprintf(w, "the schema has version %d, this build needs %d\n", s.Have, s.Want)
		}); err != nil {
			return err
		}
		if !s.Current {
			return &exit{code: exitFailed}
		}
		return nil
	}
	return cmd
}
