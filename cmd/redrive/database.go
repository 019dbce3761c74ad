package main

import (
	"context"
	"errors"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	"go.uber.org/zap"
	_ "modernc.org/sqlite" // driver "sqlite"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/open"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// withStore opens the store for a command.
func (e *environment) withStore(ctx context.Context, use func(*store.DB) error) (err error) {
	settings, err := e.settings()
	if err != nil {
		return err
	}
	db, err := open.Store(ctx, settings.Store.URL)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db)
}

// connected is what a command has that talks to the store and to Temporal.
type connected struct {
	store    *store.DB
	client   *worker.Client
	keys     *vault.Keyset
	settings config.Config
	logger   *zap.Logger
}

// withTemporal is withStore with a connection to Temporal beside it.
func (e *environment) withTemporal(ctx context.Context, use func(connected) error) error {
	return e.withStore(ctx, func(db *store.DB) error {
		settings, err := e.settings()
		if err != nil {
			return err
		}
		logger, err := e.logger(settings)
		if err != nil {
			return err
		}
		c, keys, err := e.connect(ctx, settings, logger)
		if err != nil {
			return err
		}
		defer c.Close()
		return use(connected{store: db, client: c, keys: keys, settings: settings, logger: logger})
	})
}
