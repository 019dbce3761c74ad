package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/redrivehq/redrive/job"
)

// Erase makes the data of a job unreadable here: its payloads in the vault with the keys that open them, the redacted
// payloads of its dead letter, and the results of its effects. References, counts, classes and scrubbed messages stay, and
// a tombstone says when, by whom and why; so does the audit log, in the same transaction. from is the caller's address.
//
// It is idempotent: repeated, it removes nothing, keeps the tombstone as it is, and audits that somebody asked. A job that
// is unknown here gets a tombstone all the same: nobody can tell it from one that was purged.
func (db *DB) Erase(ctx context.Context, namespace string, id job.KeyID, e job.Erasure, from string) (job.Erased, error) {
	var erased job.Erased
	err := db.write(ctx, func(tx *sql.Tx) error {
		lineage := job.NewDeadLetterID(namespace, id)
		if _, err := db.lock(ctx, tx, lineage); err != nil && !errors.Is(err, job.ErrNotFound) {
			return err
		}
		var err error
		if erased, err = db.eraseParts(ctx, tx, namespace, id, e); err != nil {
			return err
		}
		if err := db.upsertErasure(ctx, tx, namespace, id, e, erased.Parts() > 0); err != nil {
			return err
		}
		return db.insertAudit(ctx, tx, job.AuditRecord{
			At: e.At, Action: job.AuditErase, Credential: e.Credential, Actor: e.Actor, Reason: e.Reason, Namespace: namespace,
			Targets: []string{id.JobWorkflowID()}, Items: erased.Parts(), From: from,
		})
	})
	if err != nil {
		return job.Erased{}, db.wrap(ctx, err, "erase %s", id)
	}
	return erased, nil
}

// eraseParts finds payloads by the references that the dead letter has, and by the job's identity: a row from before rows
// had namespaces, or of a payload that no dead letter refers to, has none.
func (db *DB) eraseParts(ctx context.Context, tx *sql.Tx, namespace string, id job.KeyID, e job.Erasure) (job.Erased, error) {
	lineage := job.NewDeadLetterID(namespace, id)
	var counts [4]int64
	for i, part := range []struct {
		statement string
		args      []any
	}{
		{erasePayloads + `ref IN (SELECT payload_ref FROM failures WHERE dead_letter_id = ?)`, []any{micros(e.At), lineage}},
		{
			erasePayloads + `job_type = ? AND job_key = ? AND length(job_type) + length(job_key) <= 255 AND namespace IN (?, '')`,
			[]any{micros(e.At), id.Type, id.Key, namespace},
		},
		{`UPDATE failures SET redacted_payload = NULL WHERE dead_letter_id = ? AND redacted_payload IS NOT NULL`, []any{lineage}},
		{`UPDATE effects SET result = NULL WHERE dead_letter_id = ? AND result IS NOT NULL`, []any{lineage}},
	} {
		var err error
		if counts[i], err = db.exec(ctx, tx, part.statement, part.args...); err != nil {
			return job.Erased{}, err
		}
	}
	return job.Erased{Payloads: int(counts[0] + counts[1]), Records: int(counts[2]), Results: int(counts[3])}, nil
}

const erasePayloads = `UPDATE payloads SET data_key = NULL, ciphertext = NULL, erased_at = ? WHERE erased_at IS NULL AND `

// upsertErasure keeps the first tombstone, unless there was something to erase again.
func (db *DB) upsertErasure(ctx context.Context, tx *sql.Tx, namespace string, id job.KeyID, e job.Erasure, again bool) error {
	_, err := db.exec(ctx, tx, `
		INSERT INTO erasures (dead_letter_id, namespace, job_type, job_key, erased_at, credential, actor, reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (dead_letter_id) DO UPDATE SET erased_at = excluded.erased_at, credential = excluded.credential,
			actor = excluded.actor, reason = excluded.reason WHERE ?`,
		job.NewDeadLetterID(namespace, id), namespace, id.Type, id.Key, micros(e.At), e.Credential, e.Actor, e.Reason, again)
	return err
}

// erasure is the tombstone of a lineage; nil when its data was never erased.
func (db *DB) erasure(ctx context.Context, q queryer, id job.DeadLetterID) (*job.Erasure, error) {
	var e job.Erasure
	err := db.queryRow(ctx, q, `SELECT erased_at, credential, actor, reason FROM erasures WHERE dead_letter_id = ?`, id).
		Scan(instant{&e.At}, &e.Credential, &e.Actor, &e.Reason)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &e, err
}

// OfSubject returns the jobs of a namespace that hold data about a subject, as far as the store knows: those with a dead
// letter, and those whose payload went into the vault. They are sorted.
func (db *DB) OfSubject(ctx context.Context, namespace, subject string) ([]job.KeyID, error) {
	var found []job.KeyID
	err := db.query(ctx, db.sql, func(row scanner) error {
		var id job.KeyID
		err := row.Scan(&id.Type, &id.Key)
		found = append(found, id)
		return err
	}, `SELECT job_type, job_key FROM dead_letters WHERE subject = ? AND length(subject) BETWEEN 1 AND 255 AND namespace = ?
		UNION SELECT job_type, job_key FROM payloads WHERE subject = ? AND length(subject) BETWEEN 1 AND 255 AND namespace IN (?, '')
		ORDER BY job_type, job_key`, subject, namespace, subject, namespace)
	return found, db.wrap(ctx, err, "find the jobs of a subject")
}
