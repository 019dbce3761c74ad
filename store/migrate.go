package store

import (
	"context"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"
)

// VersionTable holds the schema's version. It is not goose's usual one: a program that shares the database and uses goose
// too would take its own versions for ours, and find its tables missing.
const VersionTable = "redrive_schema_version"

// Without a lock of the database's own, whoever loses a race for a migration finds its tables there, fails, and must
// look again. Each migration is a transaction, so a failed one leaves nothing behind.
const (
	migrateTries = 10
	migratePause = 100 * time.Millisecond
)

// Migrate brings the schema to this build's version, and leaves a newer one alone. It may be called any number of times,
// also at once from several processes. An error names the step; the schema then is at some version in between.
func (db *DB) Migrate(ctx context.Context) error {
	provider, err := db.provider()
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		_, err = provider.Up(ctx)
		if err == nil || db.dialect.MigrateLock != nil || try == migrateTries {
			return db.wrap(ctx, err, "migrate %s", db.dialect.Name)
		}
		select {
		case <-ctx.Done():
			return db.wrap(ctx, ctx.Err(), "migrate %s", db.dialect.Name)
		case <-time.After(migratePause):
		}
	}
}

// SchemaVersion returns the schema's version, 0 for an empty database, and the one this build wants. A worker should
// not start while have < want.
func (db *DB) SchemaVersion(ctx context.Context) (have, want int64, err error) {
	provider, err := db.provider()
	if err != nil {
		return 0, 0, err
	}
	have, want, err = provider.GetVersions(ctx)
	return have, want, db.wrap(ctx, err, "read the schema version of %s", db.dialect.Name)
}

func (db *DB) provider() (*goose.Provider, error) {
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithTableName(VersionTable)}
	if db.dialect.MigrateLock != nil {
		lock, err := db.dialect.MigrateLock()
		if err != nil {
			return nil, fmt.Errorf("lock for migrations of %s: %w", db.dialect.Name, err)
		}
		options = append(options, lock)
	}
	provider, err := goose.NewProvider(db.dialect.Goose, db.sql, db.dialect.Migrations, options...)
	if err != nil {
		return nil, fmt.Errorf("migrations of %s: %w", db.dialect.Name, err)
	}
	return provider, nil
}
