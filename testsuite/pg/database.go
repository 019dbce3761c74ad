package pg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// createDatabase makes an empty database on the server of a DSN, and returns the DSN with the new name.
func createDatabase(ctx context.Context, admin string) (string, error) {
	u, err := url.Parse(admin)
	if err != nil || u.Host == "" {
		return "", errors.New("create test database: want the server's address as a URL, postgres://user@host:port/database")
	}
	name := "t_" + strings.ToLower(rand.Text())
	// template0 never has a connection, so that many tests may copy it at once.
	if err := execute(ctx, admin, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		return "", fmt.Errorf("create test database %s: %w", name, err)
	}
	u.Path = "/" + name
	return u.String(), nil
}

// dropDatabase removes a database made by createDatabase, and ends what is still connected to it.
func dropDatabase(ctx context.Context, admin, dsn string) error {
	u, err := url.Parse(dsn)
	if err != nil {
		return errors.New("drop test database: not a URL")
	}
	name := strings.TrimPrefix(u.Path, "/")
	if err := execute(ctx, admin, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop test database %s: %w", name, err)
	}
	return nil
}

func execute(ctx context.Context, dsn, statement string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}
