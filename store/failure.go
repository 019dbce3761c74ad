package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/redrivehq/redrive/job"
)

// RecordFailure adds the failure of one run (letter.FailureRecord) to the dead letter of its key, and its sealed
// payload when there is one, in one transaction. A run that is recorded already changes nothing. A run that no
// operator asked for (Replay 0) opens the letter again; the failure of a replay leaves the state to SaveReplay.
// Calls for one letter take turns.
func (db *DB) RecordFailure(ctx context.Context, letter job.DeadLetter, payload *job.SealedPayload) error {
	err := db.inTx(ctx, func(tx *sql.Tx) error {
		if err := db.claimLetter(ctx, tx, letter); err != nil {
			return err
		}
		added, err := db.insertFailure(ctx, tx, letter.ID, letter.FailureRecord)
		if err != nil || !added {
			return err
		}
		if payload != nil {
			if err := db.insertPayload(ctx, tx, *payload); err != nil {
				return err
			}
		}
		return db.updateLetter(ctx, tx, letter)
	})
	return db.wrap(err, "record dead letter %s", letter.ID)
}

// claimLetter inserts the letter if it is new, and locks its row.
func (db *DB) claimLetter(ctx context.Context, tx *sql.Tx, l job.DeadLetter) error {
	tags, err := encode(l.Tags)
	if err != nil {
		return err
	}
	_, err = db.exec(ctx, tx, `INSERT INTO dead_letters
		(id, namespace, job_type, job_key, owner, runbook, subject, tags, state, updated_at, keep_until,
		 current_run, error_class, cause, fingerprint, handler_version, last_failure)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		l.ID, text(l.Namespace), text(l.Type), text(l.Key), text(l.Owner), text(l.Runbook), text(l.Subject), tags,
		job.StateDeadLettered, micros(l.UpdatedAt), micros(l.KeepUntil), text(l.RunID), l.Class, l.Cause,
		text(l.Fingerprint), text(l.Version), micros(l.LastFailure))
	if err != nil {
		return err
	}
	var id string
	return tx.QueryRowContext(ctx, db.rebind("SELECT id FROM dead_letters WHERE id = ?"+db.dialect.LockRow), l.ID).Scan(&id)
}

func (db *DB) insertFailure(ctx context.Context, tx *sql.Tx, id job.DeadLetterID, f job.FailureRecord) (added bool, err error) {
	payload := f.RedactedPayload
	f.RedactedPayload = nil
	record, err := encode(f)
	if err != nil {
		return false, err
	}
	n, err := db.exec(ctx, tx, `INSERT INTO failures (dead_letter_id, run_id, seq, record, redacted_payload)
		VALUES (?, ?, (SELECT COUNT(*) FROM failures WHERE dead_letter_id = ?), ?, ?) ON CONFLICT DO NOTHING`,
		id, text(f.RunID), id, record, text(string(payload)))
	return n > 0, err
}

func (db *DB) updateLetter(ctx context.Context, tx *sql.Tx, l job.DeadLetter) error {
	tags, err := encode(l.Tags)
	if err != nil {
		return err
	}
	_, err = db.exec(ctx, tx, `UPDATE dead_letters SET owner = ?, runbook = ?, subject = ?, tags = ?, updated_at = ?,
		keep_until = ?, current_run = ?, error_class = ?, cause = ?, fingerprint = ?, handler_version = ?, last_failure = ?,
		state = CASE WHEN ? = 0 THEN ? ELSE state END WHERE id = ?`,
		text(l.Owner), text(l.Runbook), text(l.Subject), tags, micros(l.UpdatedAt), micros(l.KeepUntil), text(l.RunID),
		l.Class, l.Cause, text(l.Fingerprint), text(l.Version), micros(l.LastFailure),
		l.Replay, job.StateDeadLettered, l.ID)
	return err
}

// failures returns the lineage of a letter, oldest first.
func (db *DB) failures(ctx context.Context, q queryer, id job.DeadLetterID) ([]job.FailureRecord, error) {
	rows, err := q.QueryContext(ctx, db.rebind(
		`SELECT record, redacted_payload FROM failures WHERE dead_letter_id = ? ORDER BY seq, run_id`), id)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(scan scanner) (f job.FailureRecord, err error) {
		var record, payload string
		if err := scan(&record, &payload); err != nil {
			return f, err
		}
		if err := decode(record, &f); err != nil {
			return f, err
		}
		if payload != "" {
			f.RedactedPayload = []byte(payload)
		}
		return f, nil
	})
}

// insertPayload keeps the first payload of a reference: sealing the same one again gives other bytes.
func (db *DB) insertPayload(ctx context.Context, tx *sql.Tx, p job.SealedPayload) error {
	_, err := db.exec(ctx, tx, `INSERT INTO payloads (ref, job_type, job_key, keyset_id, ciphertext, created_at)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (ref) DO NOTHING`,
		p.Ref, text(p.KeyID.Type), text(p.KeyID.Key), text(p.KeysetID), p.Ciphertext, micros(p.CreatedAt))
	return err
}

// SealedPayload returns the payload behind a reference; one that is not there wraps job.ErrPayloadGone.
func (db *DB) SealedPayload(ctx context.Context, ref job.PayloadRef) (job.SealedPayload, error) {
	p := job.SealedPayload{Ref: ref}
	var created int64
	err := db.sql.QueryRowContext(ctx, db.rebind(
		`SELECT job_type, job_key, keyset_id, ciphertext, created_at FROM payloads WHERE ref = ?`), ref).
		Scan(&p.KeyID.Type, &p.KeyID.Key, &p.KeysetID, &p.Ciphertext, &created)
	if isNoRows(err) {
		return p, fmt.Errorf("payload %s: %w", ref, job.ErrPayloadGone)
	}
	p.CreatedAt = fromMicros(created)
	return p, db.wrap(err, "payload %s", ref)
}
