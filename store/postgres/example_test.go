package postgres_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/redrivehq/redrive/store/postgres"
)

func Example() {
	handle, err := sql.Open("pgx", "postgres://redrive@db.example/redrive")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = handle.Close() }()

	db := postgres.New(handle)
	if err := db.Migrate(context.Background()); err != nil {
		fmt.Println(err) // such as: migrate postgres: not authorized (SQLSTATE 28P01)
	}
}
