package store

import (
	"context"
	"database/sql"

	"github.com/redrivehq/redrive/job"
)

// insertFailure adds a failure to the lineage unless its run is in it. The caller holds the letter's lock.
func (db *DB) insertFailure(ctx context.Context, tx *sql.Tx, id job.DeadLetterID, f job.FailureRecord) (added bool, err error) {
	var redacted any
	if len(f.RedactedPayload) > 0 {
		redacted = string(f.RedactedPayload)
	}
	n, err := db.exec(ctx, tx, `
		INSERT INTO failures (dead_letter_id, run_id, seq, workflow_id, replay, schema_version, version, class, cause,
			message, fingerprint, attempts, first_failure, last_failure, payload_ref, redaction, redacted_payload)
		VALUES (?, ?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM failures WHERE dead_letter_id = ?),
			?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (dead_letter_id, run_id) DO NOTHING`,
		id, f.RunID, id, f.WorkflowID, f.Replay, f.SchemaVersion, f.Version, f.Class, f.Cause, f.Message, f.Fingerprint,
		document{f.Log}, micros(f.FirstFailure), micros(f.LastFailure), f.PayloadRef, document{f.Redaction}, redacted)
	return n > 0, err
}

const failureColumns = `f.run_id, f.workflow_id, f.replay, f.schema_version, f.version, f.class, f.cause, f.message,
	f.fingerprint, f.attempts, f.first_failure, f.last_failure, f.payload_ref, f.redaction`

func failureFields(f *job.FailureRecord) []any {
	return []any{
		&f.RunID, &f.WorkflowID, &f.Replay, &f.SchemaVersion, &f.Version, &f.Class, &f.Cause, &f.Message,
		&f.Fingerprint,
		document{&f.Log},
		instant{&f.FirstFailure},
		instant{&f.LastFailure},
		&f.PayloadRef,
		document{&f.Redaction},
	}
}

// redactedField is apart, since lists go without it: a page of them could weigh a gigabyte.
func redactedField(f *job.FailureRecord) any { return (*[]byte)(&f.RedactedPayload) }

func (db *DB) failures(ctx context.Context, q queryer, id job.DeadLetterID) ([]job.FailureRecord, error) {
	var found []job.FailureRecord
	err := db.query(ctx, q, func(row scanner) error {
		var f job.FailureRecord
		err := row.Scan(append(failureFields(&f), redactedField(&f))...)
		found = append(found, f)
		return err
	}, `SELECT `+failureColumns+`, f.redacted_payload FROM failures f WHERE f.dead_letter_id = ? ORDER BY f.last_failure, f.seq`, id)
	return found, err
}
