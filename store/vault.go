package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/redrivehq/redrive/job"
)

// insertPayload keeps the first payload of a reference, also an erased one.
func (db *DB) insertPayload(ctx context.Context, tx *sql.Tx, p job.SealedPayload) error {
	_, err := db.exec(ctx, tx, `
		INSERT INTO payloads (ref, namespace, job_type, job_key, subject, keyset_id, data_key, ciphertext, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (ref) DO NOTHING`,
		p.Ref, p.Namespace, p.KeyID.Type, p.KeyID.Key, p.Subject, p.KeysetID, bytesOrNull(p.DataKey), p.Ciphertext, micros(p.CreatedAt))
	return err
}

// bytesOrNull keeps an absent key NULL.
func bytesOrNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// SavePayload keeps a payload that no dead letter has yet: the first one of its reference, also an erased one. Repeated it
// changes nothing.
func (db *DB) SavePayload(ctx context.Context, p job.SealedPayload) error {
	err := db.write(ctx, func(tx *sql.Tx) error { return db.insertPayload(ctx, tx, p) })
	return db.wrap(ctx, err, "save sealed payload %s", p.Ref)
}

// ErasePayload drops the ciphertext of a reference and the key that opens it; the reference stays, so that a writer that
// comes late does not bring it back. Repeated, or without such a row, it changes nothing.
func (db *DB) ErasePayload(ctx context.Context, ref job.PayloadRef, at time.Time) error {
	err := db.write(ctx, func(tx *sql.Tx) error {
		_, err := db.exec(ctx, tx, `
			UPDATE payloads SET data_key = NULL, ciphertext = NULL, erased_at = ? WHERE ref = ? AND erased_at IS NULL`, micros(at), ref)
		return err
	})
	return db.wrap(ctx, err, "erase payload %s", ref)
}

// SealedPayload returns the vault row of a reference. The error wraps job.ErrPayloadGone when there is none or it was
// erased; any other error may pass.
func (db *DB) SealedPayload(ctx context.Context, ref job.PayloadRef) (job.SealedPayload, error) {
	p := job.SealedPayload{Ref: ref}
	row := db.queryRow(ctx, db.sql, `
		SELECT job_type, job_key, keyset_id, data_key, ciphertext, created_at FROM payloads WHERE ref = ? AND erased_at IS NULL`, ref)
	err := row.Scan(&p.KeyID.Type, &p.KeyID.Key, &p.KeysetID, &p.DataKey, &p.Ciphertext, instant{&p.CreatedAt})
	if errors.Is(err, sql.ErrNoRows) {
		err = job.ErrPayloadGone
	}
	if err != nil {
		return job.SealedPayload{}, db.wrap(ctx, err, "read sealed payload %s", ref)
	}
	return p, nil
}
