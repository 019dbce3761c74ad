package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Tx is a transaction of the caller's, on the database that holds the ledger's table. SQLTx and PgxTx make one; it is
// the caller's to commit or roll back.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(ctx context.Context, statement string, args ...any) (affected int64, err error)
	// QueryRow runs a query for at most one row. No row is an error of Scan.
	QueryRow(ctx context.Context, query string, args ...any) Row
}

// Row is the answer to QueryRow.
type Row interface{ Scan(dest ...any) error }

// SQLTx adapts a transaction of database/sql.
func SQLTx(tx *sql.Tx) Tx { return sqlTx{tx} }

type sqlTx struct{ tx *sql.Tx }

func (t sqlTx) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	result, err := t.tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t sqlTx) QueryRow(ctx context.Context, query string, args ...any) Row {
	return t.tx.QueryRowContext(ctx, query, args...)
}

// PgxTx adapts a pgx.Tx without knowing pgx: C is its pgconn.CommandTag and R its pgx.Row. The compiler finds both out.
func PgxTx[C interface{ RowsAffected() int64 }, R Row](tx interface {
	Exec(ctx context.Context, statement string, args ...any) (C, error)
	QueryRow(ctx context.Context, query string, args ...any) R
},
) Tx {
	return pgxTx[C, R]{tx}
}

type pgxTx[C interface{ RowsAffected() int64 }, R Row] struct {
	tx interface {
		Exec(ctx context.Context, statement string, args ...any) (C, error)
		QueryRow(ctx context.Context, query string, args ...any) R
	}
}

func (t pgxTx[C, R]) Exec(ctx context.Context, statement string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return tag.RowsAffected(), nil
}

func (t pgxTx[C, R]) QueryRow(ctx context.Context, query string, args ...any) Row {
	return t.tx.QueryRow(ctx, query, args...)
}

// TxEffect is an effect whose writes are part of the caller's transaction.
type TxEffect struct {
	Effect job.EffectID
	Holder string        // for people
	KeyTTL time.Duration // of the ledger's memory
	// Idle bounds, in Postgres, how long the rest of the transaction may be silent between two statements, unless a
	// shorter bound is set already. A worker that is frozen in the middle would otherwise keep the next attempt waiting
	// for as long as its connection lives. 0 bounds nothing.
	Idle time.Duration
}

// OnceInTx applies a transactional effect of the running attempt once: what do writes through the caller's transaction
// and the ledger's row commit together, or neither does. It finds the effect's identity in ctx, as job.Once does; see
// DB.InTx for the rest.
func OnceInTx[T any](
	ctx context.Context, db *DB, tx Tx, name string, do func(ctx context.Context) (T, error),
) (result T, already bool, err error) {
	id, scope, err := job.EffectFrom(ctx, name)
	if err != nil {
		return result, false, err
	}
	e := TxEffect{Effect: id, Holder: scope.Holder, KeyTTL: scope.KeyTTL, Idle: scope.Lease}
	stored, already, err := db.InTx(ctx, tx, e, func(ctx context.Context) (json.RawMessage, error) {
		applied, err := do(ctx)
		if err != nil {
			return nil, err
		}
		encoded, err := json.Marshal(applied)
		if err != nil {
			return nil, job.HandlerDefect(fmt.Errorf("effect %s: %w: %w", id, job.ErrEffectResult, err))
		}
		return encoded, nil
	})
	if err != nil {
		return result, false, classified(err)
	}
	if err := json.Unmarshal(stored, &result); err != nil {
		return result, already, job.HandlerDefect(fmt.Errorf("effect %s: %w: it does not decode into %T", id, job.ErrEffectResult, result))
	}
	event := job.EffectWasApplied // if the caller commits
	if already {
		event = job.EffectWasDeduplicated
	}
	scope.Observe(id, event)
	return result, already, nil
}

// classified gives the ledger's refusals the class that a handler would have to know.
func classified(err error) error {
	if errors.Is(err, job.ErrEffectUnknown) {
		return job.UnknownOutcome(err)
	}
	return err
}

// InTx applies a transactional effect once. It first makes the ledger's row in the caller's transaction, then calls do,
// whose writes must go through the same transaction, and stores its result, which must be JSON of at most
// job.MaxEffectResultBytes. When the effect is done already, do is not called, and the stored result is returned.
//
// A second transaction for the same effect waits in InTx for the first one to end: after a commit it gets already, after a
// rollback the effect is its own. At repeatable read and above, Postgres ends the one that waited with SQLSTATE 40001
// instead: begin it again. In SQLite, open the file with sqlite.DSN, so that a transaction begins with the write lock.
//
// After any error the caller must roll back. Errors of do are returned as they are; others wrap job.ErrEffectHeld or
// job.ErrEffectUnknown when the same name was claimed by job.Once, job.ErrEffectResult, job.ErrInvalidEffect, or are an
// *Error.
func (db *DB) InTx(
	ctx context.Context, tx Tx, e TxEffect, do func(ctx context.Context) (json.RawMessage, error),
) (result json.RawMessage, already bool, err error) {
	if err := e.validate(); err != nil {
		return nil, false, err
	}
	applied, err := db.claimInTx(ctx, tx, e)
	if err != nil {
		return nil, false, db.wrapEffect(ctx, err, "apply", e.Effect)
	}
	if !applied {
		result, err = db.standingInTx(ctx, tx, e.Effect)
		return result, err == nil, db.wrapEffect(ctx, err, "apply", e.Effect)
	}
	if err := db.boundIdle(ctx, tx, e.Idle); err != nil {
		return nil, false, db.wrapEffect(ctx, err, "apply", e.Effect)
	}
	if result, err = do(ctx); err != nil {
		return nil, false, err
	}
	if err := job.CheckEffectResult(result); err != nil {
		return nil, false, job.HandlerDefect(db.wrapEffect(ctx, err, "apply", e.Effect))
	}
	_, err = tx.Exec(ctx, db.rebind(`UPDATE effects SET result = ? WHERE dead_letter_id = ? AND name = ?`),
		storable([]any{string(result), lineage(e.Effect), e.Effect.Name})...)
	return result, false, db.wrapEffect(ctx, err, "apply", e.Effect)
}

func (e TxEffect) validate() error {
	if e.KeyTTL <= 0 {
		return fmt.Errorf("%w: the key TTL is %s", job.ErrInvalidEffect, e.KeyTTL)
	}
	return e.Effect.Validate()
}

// claimInTx makes the row, or takes one that is free. Either waits for whoever else is doing so.
func (db *DB) claimInTx(ctx context.Context, tx Tx, e TxEffect) (applied bool, err error) {
	id := e.Effect
	n, err := tx.Exec(ctx, db.rebind(`
		INSERT INTO effects (dead_letter_id, name, namespace, job_type, job_key, fence, state, holder, downstream,
			created_at, updated_at, expires_at, result)
		SELECT ?, ?, ?, ?, ?, clock.now, 'done', ?, ?, clock.now, clock.now, clock.now + ?, 'null'
		FROM (SELECT `+db.dialect.now()+` AS now) clock WHERE true
		ON CONFLICT (dead_letter_id, name) DO UPDATE SET fence = effects.fence + 1, state = 'done', holder = excluded.holder,
			updated_at = excluded.updated_at, expires_at = excluded.expires_at, result = excluded.result
		WHERE effects.state = 'free'`),
		storable([]any{
			lineage(id), id.Name, id.Namespace, id.Job.Type, id.Job.Key, e.Holder, false, e.KeyTTL.Microseconds(),
		})...)
	return n > 0, err
}

// standingInTx returns the result of an effect that somebody else has applied.
func (db *DB) standingInTx(ctx context.Context, tx Tx, id job.EffectID) (json.RawMessage, error) {
	var state job.EffectState
	var text sql.NullString
	row := tx.QueryRow(ctx, db.rebind(`SELECT state, result FROM effects WHERE dead_letter_id = ? AND name = ?`),
		storable([]any{lineage(id), id.Name})...)
	switch err := row.Scan(&state, &text); {
	case err != nil:
		return nil, err
	case state == job.EffectUnknown:
		return nil, job.ErrEffectUnknown
	case state != job.EffectDone:
		return nil, job.ErrEffectHeld
	case !text.Valid:
		return nil, fmt.Errorf("%w: no result was kept", job.ErrEffectResult)
	}
	return json.RawMessage(text.String), nil
}

// boundIdle sets the bound for this transaction only.
func (db *DB) boundIdle(ctx context.Context, tx Tx, idle time.Duration) error {
	if !db.dialect.Numbered || idle <= 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `
		SELECT set_config('idle_in_transaction_session_timeout', $1, true) FROM pg_settings
		WHERE name = 'idle_in_transaction_session_timeout' AND (setting::bigint = 0 OR setting::bigint > $2)`,
		strconv.FormatInt(max(idle.Milliseconds(), 1), 10), max(idle.Milliseconds(), 1))
	return err
}
