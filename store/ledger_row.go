package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/redrivehq/redrive/job"
)

// effect is a row of the ledger, and the database's time at which it was read.
type effect struct {
	job.EffectRecord
	now time.Time
}

// lease makes the claim live until a lease from now.
func (e *effect) lease(lease time.Duration) {
	until := e.now.Add(lease)
	e.ClaimExpires, e.Lapsed = &until, false
}

// keep makes the ledger remember the effect for another key TTL. It never shortens what it is remembered for.
func (e *effect) keep(ttl time.Duration) { e.ExpiresAt = latest(e.ExpiresAt, e.now.Add(ttl)) }

// done makes the effect done; a result that is there stays.
func (e *effect) done(result json.RawMessage) {
	e.State = job.EffectDone
	if e.Result == nil {
		e.Result = result
	}
}

// insertEffect makes the row, free, unless it is there. A concurrent insert of the same effect is waited for. The first
// fence is the time: a row that is made again after a purge must not repeat the fences of the one before.
func (db *DB) insertEffect(ctx context.Context, tx *sql.Tx, id job.EffectID, ttl time.Duration) error {
	_, err := db.exec(ctx, tx, `
		INSERT INTO effects (dead_letter_id, name, namespace, job_type, job_key, fence, state, holder, downstream,
			created_at, updated_at, expires_at)
		SELECT ?, ?, ?, ?, ?, clock.now, 'free', '', ?, clock.now, clock.now, clock.now + ?
		FROM (SELECT `+db.dialect.now()+` AS now) clock WHERE true
		ON CONFLICT (dead_letter_id, name) DO NOTHING`,
		lineage(id), id.Name, id.Namespace, id.Job.Type, id.Job.Key, false, ttl.Microseconds())
	return err
}

func lineage(id job.EffectID) job.DeadLetterID { return job.NewDeadLetterID(id.Namespace, id.Job) }

// lockEffect reads a row and keeps others from changing it until the transaction ends. The error wraps job.ErrNotFound.
func (db *DB) lockEffect(ctx context.Context, tx *sql.Tx, id job.EffectID) (*effect, error) {
	var e effect
	row := db.queryRow(ctx, tx, `SELECT `+effectColumns+`, `+db.dialect.now()+`
		FROM effects WHERE dead_letter_id = ? AND name = ?`+db.dialect.LockRow, lineage(id), id.Name)
	if err := row.Scan(e.fields()...); err != nil {
		return nil, orNotFound(err)
	}
	return e.read(), nil
}

const effectColumns = `namespace, job_type, job_key, name, fence, state, holder, downstream, claim_expires_at, created_at,
	updated_at, expires_at, result`

func (e *effect) fields() []any {
	return []any{
		&e.Effect.Namespace, &e.Effect.Job.Type, &e.Effect.Job.Key, &e.Effect.Name, &e.Fence, &e.State, &e.Holder, &e.Downstream,
		instantOrNull{&e.ClaimExpires},
		instant{&e.CreatedAt},
		instant{&e.UpdatedAt},
		instant{&e.ExpiresAt},
		rawOrNull{&e.Result},
		instant{&e.now},
	}
}

func (e *effect) read() *effect {
	e.Lapsed = e.ClaimExpires != nil && !e.ClaimExpires.After(e.now)
	return e
}

// updateEffect writes back what lockEffect read and the caller changed.
func (db *DB) updateEffect(ctx context.Context, tx *sql.Tx, e *effect) error {
	if e.State != job.EffectClaimed {
		e.ClaimExpires = nil
	}
	_, err := db.exec(ctx, tx, `
		UPDATE effects SET fence = ?, state = ?, holder = ?, downstream = ?, claim_expires_at = ?, updated_at = ?, expires_at = ?,
			result = ?
		WHERE dead_letter_id = ? AND name = ?`,
		e.Fence, e.State, e.Holder, e.Downstream, microsOrNull(e.ClaimExpires), micros(latest(e.UpdatedAt, e.now)), micros(e.ExpiresAt),
		textOrNull(e.Result), lineage(e.Effect), e.Effect.Name)
	return err
}

func textOrNull(encoded json.RawMessage) any {
	if encoded == nil {
		return nil
	}
	return string(encoded)
}

// rawOrNull scans JSON text as it is, or NULL as nil.
type rawOrNull struct{ into *json.RawMessage }

// Scan reads text or NULL.
func (r rawOrNull) Scan(src any) error {
	var text sql.NullString
	if err := text.Scan(src); err != nil || !text.Valid {
		*r.into = nil
		return err
	}
	*r.into = json.RawMessage(text.String)
	return nil
}

// Effect returns an effect as the ledger has it. The error wraps job.ErrNotFound.
func (db *DB) Effect(ctx context.Context, id job.EffectID) (job.EffectRecord, error) {
	var e effect
	row := db.queryRow(ctx, db.sql, `SELECT `+effectColumns+`, `+db.dialect.now()+`
		FROM effects WHERE dead_letter_id = ? AND name = ?`, lineage(id), id.Name)
	if err := row.Scan(e.fields()...); err != nil {
		return job.EffectRecord{}, db.wrap(ctx, orNotFound(err), "read effect %s", id)
	}
	return e.read().EffectRecord, nil
}

// Standing returns where the effects of a lineage stand, without the row that stands for the job itself: unsettled ones first, then by name, at most
// job.MaxListedEffects.
func (db *DB) Standing(ctx context.Context, id job.DeadLetterID) ([]job.EffectStanding, error) {
	found, err := db.standing(ctx, db.sql, id)
	return found, db.wrap(ctx, err, "read effects of %s", id)
}

// standing leaves results in the database: there may be many, and large ones.
func (db *DB) standing(ctx context.Context, q queryer, id job.DeadLetterID) ([]job.EffectStanding, error) {
	var found []job.EffectStanding
	err := db.query(ctx, q, func(row scanner) error {
		var e job.EffectStanding
		err := row.Scan(&e.Name, &e.State, &e.Fence, &e.Unsettled, instant{&e.UpdatedAt})
		found = append(found, e)
		return err
	}, `SELECT name, state, fence,
			state = 'unknown' OR (state = 'claimed' AND NOT downstream AND claim_expires_at <= `+db.dialect.now()+`) AS unsettled,
			updated_at
		FROM effects WHERE dead_letter_id = ? AND name <> ? ORDER BY unsettled DESC, name LIMIT ?`,
		id, job.EffectJob, job.MaxListedEffects)
	return found, err
}

// Effects returns the effects of a job by name; none when the ledger knows none.
func (db *DB) Effects(ctx context.Context, namespace string, id job.KeyID) ([]job.EffectRecord, error) {
	var found []job.EffectRecord
	err := db.query(ctx, db.sql, func(row scanner) error {
		var e effect
		err := row.Scan(e.fields()...)
		found = append(found, e.read().EffectRecord)
		return err
	}, `SELECT `+effectColumns+`, `+db.dialect.now()+` FROM effects WHERE dead_letter_id = ? ORDER BY name`,
		job.NewDeadLetterID(namespace, id))
	return found, db.wrap(ctx, err, "read effects of %s", id)
}
