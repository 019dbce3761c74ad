package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/vault"
)

// createdKeys is what `redrive keys create` says.
type createdKeys struct {
	File    string `json:"file"`
	KeyID   string `json:"key_id"`
	Created bool   `json:"created"`
}

func newKeys(env *environment) *cobra.Command {
	cmd := group("keys", "Manage the keys that encrypt payloads of dead letters", "")
	var file string
	create := &cobra.Command{
		Use: "create", Short: "Write a new keyset", Args: takes(),
		Long: `Write a new keyset, readable by its owner only.

Workers and the admin API need the same one. Whoever loses it loses the payloads of all dead letters; whoever copies it
can read them. A keyset that exists is left as it is, so the command may stand in a start-up script.`,
		Example: `  redrive keys create
  redrive keys create --out /etc/redrive/keyset.json`,
		RunE: func(*cobra.Command, []string) error {
			if file == "" {
				settings, err := env.settings()
				if err != nil {
					return err
				}
				file = settings.Vault.KeysetFile
			}
			id, err := createKeyset(file)
			if errors.Is(err, fs.ErrExist) {
				return env.sayKept(file)
			}
			if err != nil {
				return err
			}
			return env.print(createdKeys{File: file, KeyID: id, Created: true}, func(w io.Writer) {
				fmt.Fprintf(w, "wrote %s with key %s; back it up apart from the store\n", printable(file), id)
			})
		},
	}
	create.Flags().StringVar(&file, "out", "", "the `file` to write (default: vault.keyset_file)")
	cmd.AddCommand(create)
	return cmd
}

// sayKept answers when the file exists. Payloads may be sealed with it; it must still be one that can be used.
func (e *environment) sayKept(file string) error {
	keys, err := vault.LoadKeyset(file)
	if err != nil {
		return fmt.Errorf("%s exists and is left as it is: %w", file, err)
	}
	return e.print(createdKeys{File: file, KeyID: keys.ID()}, func(w io.Writer) {
		fmt.Fprintf(w, "%s exists with key %s and is left as it is\n", printable(file), keys.ID())
	})
}

// createKeyset writes a new keyset and returns its key's id; a file that exists is an error that wraps fs.ErrExist.
// The file appears complete or not at all: half a keyset would be found only when a payload is needed.
func createKeyset(path string) (keyID string, err error) {
	keys, err := vault.GenerateKeyset()
	if err != nil {
		return "", err
	}
	raw, err := keys.MarshalPlain()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("create the keyset: %w", err)
	}
	unfinished, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("create the keyset: %w", err)
	}
	defer os.Remove(unfinished.Name())
	_, err = unfinished.Write(raw)
	if err := errors.Join(err, unfinished.Sync(), unfinished.Close()); err != nil {
		return "", fmt.Errorf("write the keyset: %w", err)
	}
	if err := os.Link(unfinished.Name(), path); err != nil { // unlike a rename it never replaces
		return "", fmt.Errorf("create the keyset: %w", err)
	}
	return keys.ID(), nil
}
