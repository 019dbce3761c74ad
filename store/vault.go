package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/redrivehq/redrive/job"
)

// insertPayload keeps the first payload of a reference, also an erased one.
func (db *DB) insertPayload(ctx context.Context, tx *sql.Tx, p *job.SealedPayload) error {
	if p == nil {
		return nil
	}
	_, err := db.exec(ctx, tx, `
		INSERT INTO payloads (ref, job_type, job_key, keyset_id, ciphertext, created_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (ref) DO NOTHING`,
		p.Ref, p.KeyID.Type, p.KeyID.Key, p.KeysetID, p.Ciphertext, micros(p.CreatedAt))
	return err
}

// SealedPayload returns the vault row of a reference. The error wraps job.ErrPayloadGone when there is none or it was
// erased; any other error may pass.
func (db *DB) SealedPayload(ctx context.Context, ref job.PayloadRef) (job.SealedPayload, error) {
	p := job.SealedPayload{Ref: ref}
	row := db.queryRow(ctx, db.sql, `
		SELECT job_type, job_key, keyset_id, ciphertext, created_at FROM payloads WHERE ref = ? AND erased_at IS NULL`, ref)
	err := row.Scan(&p.KeyID.Type, &p.KeyID.Key, &p.KeysetID, &p.Ciphertext, instant{&p.CreatedAt})
	if errors.Is(err, sql.ErrNoRows) {
		err = job.ErrPayloadGone
	}
	if err != nil {
		return job.SealedPayload{}, db.wrap(ctx, err, "read sealed payload %s", ref)
	}
	return p, nil
}
