package main

import (
	"context"
	"errors"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	_ "modernc.org/sqlite"             // driver "sqlite"

	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/open"
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
