package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/vault"
)

// createdKeys is what `redrive keys create` says.
type createdKeys struct {
	File    string `json:"file"`
	KeyID   string `json:"key_id"`
	Created bool   `json:"created"`
}

func newKeys(env *environment) *cobra.Command {
	cmd := group("keys", "Manage the keys that encrypt payloads", "")
	cmd.AddCommand(newKeysCreate(env), newKeysRotate(env), newKeysList(env), newKeysDestroy(env))
	return cmd
}

func newKeysCreate(env *environment) *cobra.Command {
	var file string
	create := &cobra.Command{
		Use: "create", Short: "Write a new keyset", Args: takes(),
		Long: `Write a new keyset, readable by its owner only.

Whatever starts, runs or shows jobs needs the same one. Whoever loses it loses the payloads of all dead letters and cannot
go on with jobs that are open; whoever copies it can read them. A keyset that exists is left as it is, so the command may
stand in a start-up script.`,
		Example: `  redrive keys create
  redrive keys create --out /etc/redrive/keyset.json`,
		RunE: func(*cobra.Command, []string) error {
			source, err := env.keysetFile(file)
			if err != nil {
				return err
			}
			id, err := createKeyset(source)
			if errors.Is(err, fs.ErrExist) {
				return env.sayKept(source)
			}
			if err != nil {
				return err
			}
			return env.print(createdKeys{File: source.File, KeyID: id, Created: true}, func(w io.Writer) {
				fmt.Fprintf(w, "wrote %s with key %s; back it up apart from the store\n", printable(source.File), id)
			})
		},
	}
	create.Flags().StringVar(&file, "out", "", "the `file` to write (default: vault.keyset_file)")
	return create
}

// sayKept answers when the file exists. Payloads may be sealed with it; it must still be one that can be used.
func (e *environment) sayKept(source vault.Source) error {
	keys, err := source.Load()
	if err != nil {
		return fmt.Errorf("%s exists and is left as it is: %w", source.File, err)
	}
	return e.print(createdKeys{File: source.File, KeyID: keys.ID()}, func(w io.Writer) {
		fmt.Fprintf(w, "%s exists with key %s and is left as it is\n", printable(source.File), keys.ID())
	})
}

func newKeysRotate(env *environment) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "rotate", Short: "Add a key and encrypt with it from now on", Args: takes(),
		Long: `Add a key and make it the primary one. The keys before it stay and open what they sealed.

A process reads the keyset when it starts. Restart workers first, then the admin API and producers: until a worker has the
new keyset, workflow tasks and attempts that need it wait and are tried again, uncounted.`,
		Example: `  redrive keys rotate`,
		RunE: func(*cobra.Command, []string) error {
			return env.changeKeys(file, func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Rotate() })
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the keyset `file` (default: vault.keyset_file)")
	return cmd
}

func newKeysDestroy(env *environment) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "destroy KEY-ID", Short: "Destroy a key that is not the primary one, and with it what it sealed", Args: takes("KEY-ID"),
		Long: `Destroy a key's material for good and keep its id, so that everybody knows that what it sealed is gone.

A dead letter whose payload it sealed can be replayed no more: the replay ends as payload_unavailable. Workflows that are
open and began under the key cannot go on: let them end first. Backups of the file still hold the key.`,
		Example: `  redrive keys list
  redrive keys destroy 2840113577`,
		RunE: func(_ *cobra.Command, args []string) error {
			return env.changeKeys(file, func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Destroy(args[0]) })
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the keyset `file` (default: vault.keyset_file)")
	return cmd
}

func newKeysList(env *environment) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "list", Short: "List the keys: ids and states, never the keys themselves", Args: takes(),
		Example: `  redrive keys list
  redrive keys list -o json`,
		RunE: func(*cobra.Command, []string) error {
			source, err := env.keysetSource()
			if err != nil {
				return err
			}
			if file != "" {
				source.File, source.JSON = file, ""
			}
			keys, err := source.Load()
			if err != nil {
				return err
			}
			return env.printKeys(keys)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the keyset `file` (default: vault.keyset_file)")
	return cmd
}

func (e *environment) printKeys(keys *vault.Keyset) error {
	return e.print(keys.Keys(), func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "KEY\tSTATUS\tPRIMARY")
		for _, key := range keys.Keys() {
			primary := ""
			if key.Primary {
				primary = "yes"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", key.ID, key.Status, primary)
		}
		_ = table.Flush() // to a writer that remembers its error
	})
}

// changeKeys replaces the keyset's file and lists what it holds now.
func (e *environment) changeKeys(file string, change func(*vault.Keyset) (*vault.Keyset, error)) error {
	source, err := e.keysetFile(file)
	if err != nil {
		return err
	}
	keys, err := source.Load()
	if err != nil {
		return err
	}
	changed, err := change(keys)
	if err != nil {
		return err
	}
	if err := replaceKeyset(source, changed); err != nil {
		return err
	}
	return e.printKeys(changed)
}

// keysetSource is where the settings say that the keyset is.
func (e *environment) keysetSource() (vault.Source, error) {
	settings, err := e.settings()
	if err != nil {
		return vault.Source{}, err
	}
	return keysetOf(settings), nil
}

func keysetOf(settings config.Config) vault.Source {
	return vault.Source{File: settings.Vault.KeysetFile, JSON: settings.Vault.KeysetJSON, KMS: settings.Vault.KMSURI}
}

// keysetFile is the source for commands that write it: the file that is named, else the settings'. A keyset that comes from
// the environment cannot be written there.
func (e *environment) keysetFile(named string) (vault.Source, error) {
	source, err := e.keysetSource()
	if err != nil {
		return source, err
	}
	if named != "" {
		source.File, source.JSON = named, ""
	}
	if strings.TrimSpace(source.JSON) != "" {
		return source, usagef("the keyset comes from REDRIVE_VAULT_KEYSET_JSON and cannot be written there; name a file")
	}
	return source, nil
}
