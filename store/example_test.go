package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
	"github.com/redrivehq/redrive/store/sqlite"
)

// A walk over all dead letters of one type, newest first.
func ExampleDB_DeadLetters() {
	ctx := context.Background()
	db, cleanup, err := open(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cleanup()
	for n := range 5 {
		letter := job.DeadLetter{
			ID: job.DeadLetterID(fmt.Sprint("dl_", n)), KeyID: job.KeyID{Type: "email.send", Key: job.Key(fmt.Sprint("order-", n))},
			FailureRecord: job.FailureRecord{RunID: "r", LastFailure: time.Unix(int64(n), 0)},
		}
		if err := db.RecordFailure(ctx, letter, nil); err != nil {
			fmt.Println(err)
			return
		}
	}
	q := store.Query{Type: "email.send", Limit: 2}
	for {
		page, err := db.DeadLetters(ctx, q)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, letter := range page.Letters {
			fmt.Println(letter.Key)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return
		}
	}
	// Output:
	// order-4
	// order-3
	// order-2
	// order-1
	// order-0
}

func open(ctx context.Context) (*store.DB, func(), error) {
	dir, err := os.MkdirTemp("", "redrive-store-")
	if err != nil {
		return nil, nil, err
	}
	handle, err := sql.Open("sqlite", sqlite.DSN(filepath.Join(dir, "redrive.db")))
	if err != nil {
		return nil, nil, err
	}
	db := sqlite.New(handle)
	cleanup := func() {
		_ = handle.Close()
		_ = os.RemoveAll(dir)
	}
	return db, cleanup, db.Migrate(ctx)
}
