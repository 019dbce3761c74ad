package store

import (
	"context"
	"database/sql"

	"github.com/redrivehq/redrive/job"
)

// SaveRequest records an operator's request and the decision on it. It is idempotent by dead letter, request id and
// kind: the first write wins. One that is new moves the letter to r.State, unless that is empty. The error wraps
// job.ErrNotFound when there is no such dead letter. Concurrent calls for one letter happen one after the other.
func (db *DB) SaveRequest(ctx context.Context, r job.RequestRecord) error {
	err := db.write(ctx, func(tx *sql.Tx) error {
		before, err := db.lock(ctx, tx, r.DeadLetterID)
		if err != nil {
			return err
		}
		added, err := db.insertRequest(ctx, tx, r)
		if err != nil || !added {
			return err
		}
		if r.State != "" {
			before.state = r.State
		}
		_, err = db.exec(ctx, tx, `UPDATE dead_letters SET state = ?, updated_at = ? WHERE id = ?`,
			before.state, micros(latest(before.updatedAt, r.At)), r.DeadLetterID)
		return err
	})
	return db.wrap(ctx, err, "save %s request %s of %s", r.Kind, r.RequestID, r.DeadLetterID)
}

func (db *DB) insertRequest(ctx context.Context, tx *sql.Tx, r job.RequestRecord) (added bool, err error) {
	n, err := db.exec(ctx, tx, `
		INSERT INTO requests (dead_letter_id, request_id, kind, seq, actor, reason, note, effect, happened, accepted, replay,
			refusal, requested_at, state)
		VALUES (?, ?, ?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM requests WHERE dead_letter_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (dead_letter_id, request_id, kind) DO NOTHING`,
		r.DeadLetterID, r.RequestID, r.Kind, r.DeadLetterID, r.Actor, r.Reason, r.Text, r.Effect, r.Happened, r.Accepted, r.Replay,
		document{r.Refusal}, micros(r.At), r.State)
	return n > 0, err
}

const requestColumns = `dead_letter_id, request_id, kind, actor, reason, note, effect, happened, accepted, replay, refusal,
	requested_at, state`

func requestFields(r *job.RequestRecord) []any {
	return []any{
		&r.DeadLetterID, &r.RequestID, &r.Kind, &r.Actor, &r.Reason, &r.Text, &r.Effect, &r.Happened, &r.Accepted, &r.Replay,
		document{&r.Refusal},
		instant{&r.At},
		&r.State,
	}
}

// Request returns one request and the decision on it. The error wraps job.ErrNotFound.
func (db *DB) Request(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, requestID string) (job.RequestRecord, error) {
	var r job.RequestRecord
	row := db.queryRow(ctx, db.sql, `SELECT `+requestColumns+` FROM requests
		WHERE dead_letter_id = ? AND request_id = ? AND kind = ?`, id, requestID, kind)
	if err := row.Scan(requestFields(&r)...); err != nil {
		return job.RequestRecord{}, db.wrap(ctx, orNotFound(err), "read %s request %s of %s", kind, requestID, id)
	}
	return r, nil
}

func (db *DB) requests(ctx context.Context, q queryer, id job.DeadLetterID) ([]job.RequestRecord, error) {
	var found []job.RequestRecord
	err := db.query(ctx, q, func(row scanner) error {
		var r job.RequestRecord
		err := row.Scan(requestFields(&r)...)
		found = append(found, r)
		return err
	}, `SELECT `+requestColumns+` FROM requests WHERE dead_letter_id = ? ORDER BY seq`, id)
	return found, err
}
