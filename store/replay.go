package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/redrivehq/redrive/job"
)

// SaveReplay records a replay when it begins and again when it has an outcome, and moves the dead letter with it. A
// finished record is never changed again, so a late retry of the beginning does no harm. An unknown dead letter wraps
// job.ErrNotFound.
func (db *DB) SaveReplay(ctx context.Context, r job.ReplayRecord) error {
	err := db.inTx(ctx, func(tx *sql.Tx) error {
		record, err := encode(r)
		if err != nil {
			return err
		}
		changed, err := db.exec(ctx, tx, `INSERT INTO replays (dead_letter_id, number, finished_at, record)
			SELECT id, CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT) FROM dead_letters WHERE id = ?
			ON CONFLICT (dead_letter_id, number) DO UPDATE SET finished_at = excluded.finished_at, record = excluded.record
			WHERE replays.finished_at IS NULL AND excluded.finished_at IS NOT NULL`,
			r.Number, microsOrNull(r.FinishedAt), record, r.DeadLetterID)
		if err != nil {
			return err
		}
		if changed == 0 {
			return db.mustExist(ctx, tx, r.DeadLetterID)
		}
		at := r.StartedAt
		if r.FinishedAt != nil {
			at = *r.FinishedAt
		}
		_, err = db.exec(ctx, tx, `UPDATE dead_letters SET state = ?, not_before = ?, updated_at = ?,
			replays = CASE WHEN replays < ? THEN ? ELSE replays END WHERE id = ?`,
			r.State, microsOrNull(r.NotBefore), micros(at), r.Number, r.Number, r.DeadLetterID)
		return err
	})
	return db.wrapKnown(err, "save replay %d of %s", r.Number, r.DeadLetterID)
}

func (db *DB) replays(ctx context.Context, q queryer, id job.DeadLetterID) ([]job.ReplayRecord, error) {
	rows, err := q.QueryContext(ctx, db.rebind(`SELECT record FROM replays WHERE dead_letter_id = ? ORDER BY number`), id)
	if err != nil {
		return nil, err
	}
	return collect(rows, readRecord[job.ReplayRecord])
}

// readRecord reads a row that is one record.
func readRecord[T any](scan scanner) (record T, err error) {
	var encoded string
	if err := scan(&encoded); err != nil {
		return record, err
	}
	return record, decode(encoded, &record)
}

// mustExist tells a repeated write from one about a dead letter that is not there.
func (db *DB) mustExist(ctx context.Context, tx *sql.Tx, id job.DeadLetterID) error {
	var n int
	if err := tx.QueryRowContext(ctx, db.rebind(`SELECT COUNT(*) FROM dead_letters WHERE id = ?`), id).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("dead letter %q: %w", id, job.ErrNotFound)
	}
	return nil
}
