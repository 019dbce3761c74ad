package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/sqlite"
)

func keepOrder(ctx context.Context, db *sql.DB, ledger *store.DB, order string) (err error) {
	tx, err := db.BeginTx(ctx, nil) // db is the ledger's database
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	_, _, err = store.OnceInTx(ctx, ledger, store.SQLTx(tx), "order", func(ctx context.Context) (string, error) {
		_, err := tx.ExecContext(ctx, `INSERT INTO orders (id) VALUES (?)`, order)
		return order, err
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// Two attempts of one job keep one order.
func ExampleOnceInTx() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "redrive-store-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", sqlite.DSN(filepath.Join(dir, "redrive.db")))
	if err != nil {
		fmt.Println(err)
		return
	}
	ledger := sqlite.New(db)
	defer ledger.Close()
	_, err = db.ExecContext(ctx, "CREATE TABLE orders (id TEXT)")
	if err := errors.Join(err, ledger.Migrate(ctx)); err != nil {
		fmt.Println(err)
		return
	}
	for attempt := 1; attempt <= 2; attempt++ {
		// A worker with Options.Ledger gives handlers such a context.
		ctx := job.WithLedger(
			job.WithAttempt(ctx, job.AttemptInfo{ID: job.KeyID{Type: "order.keep", Key: "order-1001"}, Number: attempt}),
			ledger, job.EffectScope{Namespace: "default", Holder: "example", Lease: time.Minute})
		if err := keepOrder(ctx, db, ledger, "order-1001"); err != nil {
			fmt.Println(err)
			return
		}
	}
	var n int
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM orders").Scan(&n)
	fmt.Println(n, err)
	// Output: 1 <nil>
}
