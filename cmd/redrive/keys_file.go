package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/redrivehq/redrive/vault"
)

// createKeyset writes a new keyset and returns its key's id; a file that exists is an error that wraps fs.ErrExist.
func createKeyset(source vault.Source) (keyID string, err error) {
	keys, err := vault.GenerateKeyset()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(source.File), 0o700); err != nil {
		return "", fmt.Errorf("create the keyset: %w", err)
	}
	return keys.ID(), writeKeyset(source, keys, os.Link) // unlike a rename it never replaces
}

// replaceKeyset writes keys over the file. Whoever reads it meanwhile gets the old keyset or the new one.
func replaceKeyset(source vault.Source, keys *vault.Keyset) error {
	return writeKeyset(source, keys, os.Rename)
}

// writeKeyset makes the file appear complete or not at all: half a keyset would be found only when a payload is needed.
func writeKeyset(source vault.Source, keys *vault.Keyset, place func(from, to string) error) error {
	raw, err := source.Marshal(keys)
	if err != nil {
		return err
	}
	directory := filepath.Dir(source.File)
	unfinished, err := os.CreateTemp(directory, ".keyset-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write the keyset: %w", err)
	}
	defer os.Remove(unfinished.Name())
	_, err = unfinished.Write(raw)
	if err := errors.Join(err, unfinished.Sync(), unfinished.Close()); err != nil {
		return fmt.Errorf("write the keyset: %w", err)
	}
	if err := place(unfinished.Name(), source.File); err != nil {
		return fmt.Errorf("write the keyset: %w", err)
	}
	if opened, err := os.Open(directory); err == nil { // the file's name is durable once its directory is
		err = errors.Join(opened.Sync(), opened.Close())
		if err != nil {
			return fmt.Errorf("write the keyset: %w", err)
		}
	}
	return nil
}
