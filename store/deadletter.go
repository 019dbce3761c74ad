package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/redrivehq/redrive/job"
)

// RecordFailure makes a failure of a job durable: the dead letter of its key, letter.FailureRecord in the letter's
// lineage, and the sealed payload, if any and if its reference is new; all in one transaction.
//
// It is idempotent by run: a run that is already in the lineage changes nothing, not even the state. A new run becomes
// the letter's current failure and brings owner, runbook, subject, tags and the end of retention up to date, unless it is
// reported late and failed before the current one did. A run that no operator asked for (Replay == 0) makes the letter
// dead_lettered, also one that was resolved or discarded, and also when it is late: workers' clocks disagree, and opening
// a letter once too often loses nothing. The run of a replay leaves the state to SaveReplay. Concurrent calls for one
// letter happen one after the other.
func (db *DB) RecordFailure(ctx context.Context, letter job.DeadLetter, payload *job.SealedPayload) error {
	err := db.write(ctx, func(tx *sql.Tx) error {
		created, err := db.insertLetter(ctx, tx, letter)
		if err != nil {
			return err
		}
		before, err := db.lock(ctx, tx, letter.ID)
		if err != nil {
			return err
		}
		added, err := db.insertFailure(ctx, tx, letter.ID, letter.FailureRecord)
		if err != nil || !added {
			return err
		}
		if !created {
			if err := db.updateLetter(ctx, tx, letter, before); err != nil {
				return err
			}
		}
		if payload == nil {
			return nil
		}
		owned := *payload
		owned.Namespace, owned.Subject = letter.Namespace, letter.Subject
		return db.insertPayload(ctx, tx, owned)
	})
	return db.wrap(ctx, err, "record dead letter %s", letter.ID)
}

// insertLetter makes the letter unless it is there. A concurrent insert of the same letter is waited for.
func (db *DB) insertLetter(ctx context.Context, tx *sql.Tx, l job.DeadLetter) (created bool, err error) {
	n, err := db.exec(ctx, tx, `
		INSERT INTO dead_letters (id, namespace, job_type, job_key, owner, runbook, subject, tags, state, replays,
			not_before, updated_at, keep_until, run_id, class, cause, fingerprint, version, last_failure)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		l.ID, l.Namespace, l.Type, l.Key, l.Owner, l.Runbook, l.Subject, document{l.Tags}, job.StateDeadLettered, l.Replays,
		microsOrNull(l.NotBefore), micros(changed(l)), micros(l.KeepUntil), l.RunID, l.Class, l.Cause, l.Fingerprint,
		l.Version, micros(l.LastFailure))
	return n > 0, err
}

func (db *DB) updateLetter(ctx context.Context, tx *sql.Tx, l job.DeadLetter, s standing) error {
	if l.Replay == 0 {
		s.state = job.StateDeadLettered
	}
	if micros(l.LastFailure) < micros(s.lastFailure) {
		_, err := db.exec(ctx, tx, `UPDATE dead_letters SET state = ?, updated_at = ? WHERE id = ?`,
			s.state, micros(latest(s.updatedAt, changed(l))), l.ID)
		return err
	}
	_, err := db.exec(ctx, tx, `
		UPDATE dead_letters SET owner = ?, runbook = ?, subject = ?, tags = ?, state = ?, updated_at = ?, keep_until = ?,
			run_id = ?, class = ?, cause = ?, fingerprint = ?, version = ?, last_failure = ?
		WHERE id = ?`,
		l.Owner, l.Runbook, l.Subject, document{l.Tags}, s.state, micros(latest(s.updatedAt, changed(l))), micros(l.KeepUntil),
		l.RunID, l.Class, l.Cause, l.Fingerprint, l.Version, micros(l.LastFailure), l.ID)
	return err
}

func changed(l job.DeadLetter) time.Time { return latest(l.UpdatedAt, l.LastFailure) }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// standing is the part of a dead letter that writes decide by.
type standing struct {
	state       job.State
	replays     int
	updatedAt   time.Time
	lastFailure time.Time
}

// lock keeps other writers from the letter until the transaction ends. It is the first thing a transaction does with an
// existing letter. The error wraps job.ErrNotFound.
//
// It is also why read committed suffices in Postgres: whatever is read about the letter afterwards was committed by
// whoever held the lock before, since each statement there sees what was committed before it began.
func (db *DB) lock(ctx context.Context, tx *sql.Tx, id job.DeadLetterID) (standing, error) {
	var s standing
	err := db.queryRow(ctx, tx, `
		SELECT state, replays, updated_at, last_failure FROM dead_letters WHERE id = ?`+db.dialect.LockRow, id).
		Scan(&s.state, &s.replays, instant{&s.updatedAt}, instant{&s.lastFailure})
	return s, orNotFound(err)
}

func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return job.ErrNotFound
	}
	return err
}

const letterColumns = `d.id, d.namespace, d.job_type, d.job_key, d.owner, d.runbook, d.subject, d.tags, d.state, d.replays,
	d.not_before, d.updated_at, d.keep_until`

func letterFields(l *job.DeadLetter) []any {
	return []any{
		&l.ID, &l.Namespace, &l.Type, &l.Key, &l.Owner, &l.Runbook, &l.Subject,
		document{&l.Tags},
		&l.State, &l.Replays,
		instantOrNull{&l.NotBefore},
		instant{&l.UpdatedAt},
		instant{&l.KeepUntil},
	}
}

// DeadLetter returns a dead letter with its whole lineage and where its effects stand, all of one moment; each part of
// the lineage is oldest first, and the current failure is the last of Failures. The error wraps job.ErrNotFound.
func (db *DB) DeadLetter(ctx context.Context, id job.DeadLetterID) (job.DeadLetter, error) {
	var letter job.DeadLetter
	err := db.snapshot(ctx, func(tx *sql.Tx) error {
		row := db.queryRow(ctx, tx, `SELECT `+letterColumns+`, `+failureColumns+`, f.redacted_payload
			FROM dead_letters d JOIN failures f ON f.dead_letter_id = d.id AND f.run_id = d.run_id WHERE d.id = ?`, id)
		err := row.Scan(append(append(letterFields(&letter), failureFields(&letter.FailureRecord)...), redactedField(&letter.FailureRecord))...)
		if err != nil {
			return orNotFound(err)
		}
		if letter.Failures, err = db.failures(ctx, tx, id); err != nil {
			return err
		}
		if letter.History, err = db.replays(ctx, tx, id); err != nil {
			return err
		}
		if letter.Requests, err = db.requests(ctx, tx, id); err != nil {
			return err
		}
		if letter.Effects, err = db.standing(ctx, tx, id); err != nil {
			return err
		}
		letter.Erased, err = db.erasure(ctx, tx, id)
		return err
	})
	if err != nil {
		return job.DeadLetter{}, db.wrap(ctx, err, "read dead letter %s", id)
	}
	return letter, nil
}
