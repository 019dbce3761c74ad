package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store/sqlite"
)

func Example() {
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: invalid_payload, dead_lettered, 1 failure
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "redrive-store-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	handle, err := sql.Open("sqlite", sqlite.DSN(filepath.Join(dir, "redrive.db")))
	if err != nil {
		return err
	}
	defer func() { _ = handle.Close() }()

	db := sqlite.New(handle)
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	key := job.KeyID{Type: "email.send", Key: "order-1001.receipt"}
	letter := job.DeadLetter{
		ID: job.NewDeadLetterID("default", key), Namespace: "default", KeyID: key, KeepUntil: time.Now().AddDate(0, 3, 0),
		FailureRecord: job.FailureRecord{
			RunID: "5f2d", Class: job.ClassInvalidPayload, Cause: job.CausePoison, LastFailure: time.Now(),
		},
	}
	for range 2 { // Temporal may run an activity twice
		if err := db.RecordFailure(ctx, letter, nil); err != nil {
			return err
		}
	}
	got, err := db.DeadLetter(ctx, letter.ID)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %d failure\n", got.Class, got.State, len(got.Failures))
	return nil
}
