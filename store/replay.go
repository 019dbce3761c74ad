package store

import (
	"context"
	"database/sql"

	"github.com/redrivehq/redrive/job"
)

// SaveReplay records that a replay began, or that it finished. A replay goes from nothing to begun to finished, each
// step once: a repeated or late record changes nothing, so an unfinished one never replaces a finished one.
//
// A step moves the letter to r.State and r.NotBefore, unless a replay with a higher number is already recorded, and
// counts the replay as begun. An outcome leaves the state alone when a failure that no operator asked for was recorded
// since the beginning: the replay answered what was known then, and the new failure is still open. The error wraps
// job.ErrNotFound when there is no such dead letter. Concurrent calls for one letter happen one after the other.
func (db *DB) SaveReplay(ctx context.Context, r job.ReplayRecord) error {
	err := db.write(ctx, func(tx *sql.Tx) error {
		before, err := db.lock(ctx, tx, r.DeadLetterID)
		if err != nil {
			return err
		}
		moved, err := db.upsertReplay(ctx, tx, r)
		if err != nil || !moved || r.Number < before.replays {
			return err
		}
		overtaken, err := db.overtaken(ctx, tx, r)
		if err != nil {
			return err
		}
		if !overtaken {
			before.state = r.State
		}
		at := r.StartedAt
		if r.FinishedAt != nil {
			at = *r.FinishedAt
		}
		_, err = db.exec(ctx, tx, `UPDATE dead_letters SET state = ?, not_before = ?, replays = ?, updated_at = ? WHERE id = ?`,
			before.state, microsOrNull(r.NotBefore), r.Number, micros(latest(before.updatedAt, at)), r.DeadLetterID)
		return err
	})
	return db.wrap(ctx, err, "save replay %d of %s", r.Number, r.DeadLetterID)
}

// upsertReplay tells whether the record was a step: a row that was not there, or one that is finished now.
func (db *DB) upsertReplay(ctx context.Context, tx *sql.Tx, r job.ReplayRecord) (moved bool, err error) {
	n, err := db.exec(ctx, tx, `
		INSERT INTO replays (dead_letter_id, number, answers_seq, request_id, actor, reason, defect, fixed_version, forced,
			started_at, finished_at, outcome, detail, state, not_before)
		VALUES (?, ?, (SELECT COALESCE(MAX(seq), 0) FROM failures WHERE dead_letter_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (dead_letter_id, number) DO UPDATE SET finished_at = excluded.finished_at, outcome = excluded.outcome,
			detail = excluded.detail, state = excluded.state, not_before = excluded.not_before
		WHERE replays.finished_at IS NULL AND excluded.finished_at IS NOT NULL`,
		r.DeadLetterID, r.Number, r.DeadLetterID, r.RequestID, r.Actor, r.Reason, r.Defect, r.Fixed, r.Forced, micros(r.StartedAt),
		microsOrNull(r.FinishedAt), r.Outcome, r.Detail, r.State, microsOrNull(r.NotBefore))
	return n > 0, err
}

// overtaken tells whether a failure that no operator asked for arrived after the replay was first recorded. Arrivals are
// compared, not times: those of failures are by the workers' clocks.
func (db *DB) overtaken(ctx context.Context, tx *sql.Tx, r job.ReplayRecord) (bool, error) {
	var n int
	err := db.queryRow(ctx, tx, `
		SELECT COUNT(*) FROM failures f JOIN replays r ON r.dead_letter_id = f.dead_letter_id
		WHERE f.dead_letter_id = ? AND r.number = ? AND f.replay = 0 AND f.seq > r.answers_seq`,
		r.DeadLetterID, r.Number).Scan(&n)
	return n > 0, err
}

func (db *DB) replays(ctx context.Context, q queryer, id job.DeadLetterID) ([]job.ReplayRecord, error) {
	var found []job.ReplayRecord
	err := db.query(ctx, q, func(row scanner) error {
		var r job.ReplayRecord
		err := row.Scan(&r.DeadLetterID, &r.Number, &r.RequestID, &r.Actor, &r.Reason, &r.Defect, &r.Fixed, &r.Forced,
			instant{&r.StartedAt}, instantOrNull{&r.FinishedAt}, &r.Outcome, &r.Detail, &r.State, instantOrNull{&r.NotBefore})
		found = append(found, r)
		return err
	}, `SELECT dead_letter_id, number, request_id, actor, reason, defect, fixed_version, forced, started_at, finished_at,
		outcome, detail, state, not_before FROM replays WHERE dead_letter_id = ? ORDER BY number`, id)
	return found, err
}
