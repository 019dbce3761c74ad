package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/redrivehq/redrive/job"
)

// SaveAudit adds a record to the audit log. Each call adds one; nothing changes or removes one.
func (db *DB) SaveAudit(ctx context.Context, r job.AuditRecord) error {
	err := db.write(ctx, func(tx *sql.Tx) error { return db.insertAudit(ctx, tx, r) })
	return db.wrap(ctx, err, "save audit record %s", r.Action)
}

func (db *DB) insertAudit(ctx context.Context, tx *sql.Tx, r job.AuditRecord) error {
	_, err := db.exec(ctx, tx, `
		INSERT INTO audit (at, action, credential, actor, reason, namespace, targets, items, origin)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		micros(r.At), r.Action, r.Credential, r.Actor, r.Reason, r.Namespace, document{r.Targets}, r.Items, r.From)
	return err
}

// Audit returns the newest records of the audit log, newest first, at most limit (DefaultPage when zero). An error wraps
// ErrInvalidQuery or is the database's.
func (db *DB) Audit(ctx context.Context, limit int) ([]job.AuditRecord, error) {
	limit, err := Query{Limit: limit}.limit()
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	var found []job.AuditRecord
	err = db.query(ctx, db.sql, func(row scanner) error {
		var r job.AuditRecord
		err := row.Scan(instant{&r.At}, &r.Action, &r.Credential, &r.Actor, &r.Reason, &r.Namespace, document{&r.Targets}, &r.Items, &r.From)
		found = append(found, r)
		return err
	}, `SELECT at, action, credential, actor, reason, namespace, targets, items, origin FROM audit ORDER BY seq DESC LIMIT ?`, limit)
	return found, db.wrap(ctx, err, "read the audit log")
}
