package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/redrivehq/redrive/job"
)

// PurgeExpired forgets effects whose key TTL ended before a time, at most batch rows per transaction, until none is left
// or ctx ends, and returns how many it forgot. It is never ahead of the database's clock, and leaves alone what somebody
// may still ask for: claims that are live, and effects of jobs whose dead letter is open here. Repeated and concurrent
// calls do no harm.
func (db *DB) PurgeExpired(ctx context.Context, before time.Time, batch int) (purged int, err error) {
	if batch < 1 {
		return 0, fmt.Errorf("purge effects: %w: the batch is %d, at least 1 is needed", ErrInvalidQuery, batch)
	}
	for {
		var n int64
		err := db.write(ctx, func(tx *sql.Tx) (err error) {
			n, err = db.purgeBatch(ctx, tx, before, batch)
			return err
		})
		purged += int(n)
		if err != nil || n == 0 {
			return purged, db.wrap(ctx, err, "purge effects")
		}
	}
}

// purgeBatch states its conditions twice: Postgres checks the outer ones again on a row that was changed since the inner
// ones chose it, such as by a claim.
func (db *DB) purgeBatch(ctx context.Context, tx *sql.Tx, before time.Time, batch int) (int64, error) {
	now := db.dialect.now()
	expired := `expires_at < ? AND expires_at < ` + now + ` AND (claim_expires_at IS NULL OR claim_expires_at < ` + now + `)`
	return db.exec(ctx, tx, `
		DELETE FROM effects WHERE (dead_letter_id, name) IN (
			SELECT e.dead_letter_id, e.name FROM effects e WHERE `+expired+` AND NOT EXISTS (
				SELECT 1 FROM dead_letters d WHERE d.id = e.dead_letter_id AND d.state IN (?, ?))
			ORDER BY expires_at LIMIT ?)
		AND `+expired,
		micros(before), job.StateDeadLettered, job.StateReplaying, batch, micros(before))
}
