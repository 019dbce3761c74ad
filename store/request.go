package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/redrivehq/redrive/job"
)

// SaveRequest records an operator's request and the decision, and moves the dead letter when the record says so. The
// first record of an id wins; a repeated one changes nothing. An unknown dead letter wraps job.ErrNotFound.
func (db *DB) SaveRequest(ctx context.Context, r job.RequestRecord) error {
	err := db.inTx(ctx, func(tx *sql.Tx) error {
		record, err := encode(r)
		if err != nil {
			return err
		}
		added, err := db.exec(ctx, tx, `INSERT INTO requests (dead_letter_id, kind, request_id, at, record)
			SELECT id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT) FROM dead_letters WHERE id = ?
			ON CONFLICT DO NOTHING`, r.Kind, text(r.RequestID), micros(r.At), record, r.DeadLetterID)
		if err != nil {
			return err
		}
		if added == 0 {
			return db.mustExist(ctx, tx, r.DeadLetterID)
		}
		_, err = db.exec(ctx, tx, `UPDATE dead_letters SET updated_at = ?, state = CASE WHEN ? = '' THEN state ELSE ? END WHERE id = ?`,
			micros(r.At), r.State, r.State, r.DeadLetterID)
		return err
	})
	return db.wrapKnown(err, "save %s request of %s", r.Kind, r.DeadLetterID)
}

// Request returns the record of a request; one that was not decided yet wraps job.ErrNotFound.
func (db *DB) Request(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, requestID string) (job.RequestRecord, error) {
	row := db.sql.QueryRowContext(ctx, db.rebind(
		`SELECT record FROM requests WHERE dead_letter_id = ? AND kind = ? AND request_id = ?`), id, kind, text(requestID))
	record, err := readRecord[job.RequestRecord](row.Scan)
	if isNoRows(err) {
		return record, fmt.Errorf("%s request of %s: %w", kind, id, job.ErrNotFound)
	}
	return record, db.wrap(err, "%s request of %s", kind, id)
}

func (db *DB) requests(ctx context.Context, q queryer, id job.DeadLetterID) ([]job.RequestRecord, error) {
	rows, err := q.QueryContext(ctx, db.rebind(`SELECT record FROM requests WHERE dead_letter_id = ? ORDER BY at, request_id`), id)
	if err != nil {
		return nil, err
	}
	return collect(rows, readRecord[job.RequestRecord])
}

// wrapKnown lets job.ErrNotFound through, and nothing else of the database's words.
func (db *DB) wrapKnown(err error, format string, args ...any) error {
	if errors.Is(err, job.ErrNotFound) {
		return err
	}
	return db.wrap(err, format, args...)
}
