package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

// clusterName is the name of the only cluster there is.
const clusterName = "active"

// openDatabase prepares the database with its schema and namespaces and returns how the server reaches it.
func openDatabase(opts options) (*config.SQL, error) {
	conf := &config.SQL{
		PluginName: sqliteplugin.PluginName, DatabaseName: "redrive",
		ConnectAttributes: map[string]string{"mode": "memory", "cache": "shared"},
	}
	if opts.db != "" {
		if err := createFile(opts.db); err != nil {
			return nil, fmt.Errorf("create database %s: %w", opts.db, err)
		}
		conf.DatabaseName = uriPath(opts.db)
		conf.ConnectAttributes = map[string]string{
			"mode": "rwc", "journal_mode": "wal", "synchronous": "normal",
			// Two servers over one file would each believe to own the shard. The second gets "database is locked".
			"locking_mode": "exclusive",
		}
	}
	if err := createNamespaces(conf, opts); err != nil {
		return nil, fmt.Errorf("open database %s (one server at a time may use a file): %w", opts.db, err)
	}
	return conf, nil
}

// createFile builds the schema aside and renames it into place, so that a kill half-way leaves no half schema behind.
// The file is for its owner only: histories hold payloads.
func createFile(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	draft := path + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(draft, nil, 0o600); err != nil {
		return err
	}
	if err := sqlite.SetupSchema(&config.SQL{
		PluginName: sqliteplugin.PluginName, DatabaseName: uriPath(draft),
		ConnectAttributes: map[string]string{"mode": "rw", "journal_mode": "memory", "synchronous": "off"},
	}); err != nil {
		return err
	}
	return os.Rename(draft, path)
}

func createNamespaces(conf *config.SQL, opts options) error {
	var all []*sqlite.NamespaceConfig
	for _, name := range opts.namespaces {
		ns, err := sqlite.NewNamespaceConfig(clusterName, name, false, opts.searchAttributes)
		if err != nil {
			return err
		}
		// The API refuses less than an hour; tests of what retention deletes cannot wait that long.
		ns.Detail.Config.Retention = durationpb.New(opts.retention.Round(time.Second))
		all = append(all, ns)
	}
	return sqlite.CreateNamespaces(conf, all...)
}

// uriPath escapes what would end or change the path in SQLite's "file:" URI.
func uriPath(path string) string { return (&url.URL{Path: path}).EscapedPath() }
