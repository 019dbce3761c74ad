package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redrivehq/redrive/job"
)

const letterColumns = `d.id, d.namespace, d.job_type, d.job_key, d.owner, d.runbook, d.subject, d.tags, d.state, d.replays,
	d.not_before, d.updated_at, d.keep_until, f.record
	FROM dead_letters d JOIN failures f ON f.dead_letter_id = d.id AND f.run_id = d.current_run`

func readLetter(scan scanner) (l job.DeadLetter, err error) {
	var tags, record string
	var notBefore sql.NullInt64
	var updated, keep int64
	err = scan(&l.ID, &l.Namespace, &l.Type, &l.Key, &l.Owner, &l.Runbook, &l.Subject, &tags, &l.State, &l.Replays,
		&notBefore, &updated, &keep, &record)
	if err != nil {
		return l, err
	}
	l.NotBefore, l.UpdatedAt, l.KeepUntil = fromNull(notBefore), fromMicros(updated), fromMicros(keep)
	return l, errors.Join(decode(tags, &l.Tags), decode(record, &l.FailureRecord))
}

// DeadLetter returns a dead letter with its lineage, replays and requests. An unknown id wraps job.ErrNotFound.
func (db *DB) DeadLetter(ctx context.Context, id job.DeadLetterID) (job.DeadLetter, error) {
	row := db.sql.QueryRowContext(ctx, db.rebind(`SELECT `+letterColumns+` WHERE d.id = ?`), text(id))
	letter, err := readLetter(row.Scan)
	if isNoRows(err) {
		return letter, fmt.Errorf("dead letter %q: %w", id, job.ErrNotFound)
	}
	if err == nil {
		letter.Failures, err = db.failures(ctx, db.sql, id)
	}
	if err == nil {
		letter.History, err = db.replays(ctx, db.sql, id)
	}
	if err == nil {
		letter.Requests, err = db.requests(ctx, db.sql, id)
	}
	for _, f := range letter.Failures {
		if f.RunID == letter.RunID {
			letter.RedactedPayload = f.RedactedPayload
		}
	}
	return letter, db.wrap(err, "dead letter %q", id)
}

// Limits of a page.
const (
	DefaultPage = 50
	MaxPage     = 500
)

// Query selects dead letters; zero fields do not restrict. Since and Until bound the newest failure.
type Query struct {
	State        job.State
	Type         job.Type
	Class        job.Class
	Cause        job.Cause
	Fingerprint  string
	Version      string
	Since, Until time.Time
	Limit        int    // default DefaultPage, at most MaxPage
	Cursor       string // Page.Next of the page before
}

// Page is a part of a list. Next is empty on the last one.
type Page struct {
	Letters []job.DeadLetter
	Next    string
}

// ErrInvalidQuery is wrapped when a limit or cursor is not of the form that DeadLetters takes.
var ErrInvalidQuery = errors.New("invalid query")

// DeadLetters lists dead letters, newest failure first, without lineage and payload. Letters that fail anew while
// pages are read can be seen twice; none that stays is missed.
func (db *DB) DeadLetters(ctx context.Context, q Query) (Page, error) {
	if q.Limit == 0 {
		q.Limit = DefaultPage
	}
	if q.Limit < 1 || q.Limit > MaxPage {
		return Page{}, fmt.Errorf("%w: limit %d, allowed are 1 to %d", ErrInvalidQuery, q.Limit, MaxPage)
	}
	where, args, err := q.where()
	if err != nil {
		return Page{}, err
	}
	rows, err := db.sql.QueryContext(ctx, db.rebind(
		`SELECT `+letterColumns+where+` ORDER BY d.last_failure DESC, d.id DESC LIMIT ?`), append(args, q.Limit+1)...)
	if err != nil {
		return Page{}, db.wrap(err, "list dead letters")
	}
	letters, err := collect(rows, readLetter)
	if err != nil {
		return Page{}, db.wrap(err, "list dead letters")
	}
	page := Page{Letters: letters}
	if len(letters) > q.Limit {
		last := letters[q.Limit-1]
		page.Letters, page.Next = letters[:q.Limit], cursor(last)
	}
	return page, nil
}

func (q Query) where() (clause string, args []any, err error) {
	var terms []string
	add := func(term string, values ...any) {
		terms, args = append(terms, term), append(args, values...)
	}
	for _, equal := range []struct{ column, value string }{
		{"d.state", string(q.State)},
		{"d.job_type", string(q.Type)},
		{"d.error_class", string(q.Class)},
		{"d.cause", string(q.Cause)},
		{"d.fingerprint", q.Fingerprint},
		{"d.handler_version", q.Version},
	} {
		if equal.value != "" {
			add(equal.column+" = ?", text(equal.value))
		}
	}
	if !q.Since.IsZero() {
		add("d.last_failure >= ?", micros(q.Since))
	}
	if !q.Until.IsZero() {
		add("d.last_failure < ?", micros(q.Until))
	}
	if q.Cursor != "" {
		at, id, err := parseCursor(q.Cursor)
		if err != nil {
			return "", nil, err
		}
		add("(d.last_failure < ? OR (d.last_failure = ? AND d.id < ?))", at, at, id)
	}
	if len(terms) == 0 {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args, nil
}

func cursor(l job.DeadLetter) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", micros(l.LastFailure), l.ID))
}

func parseCursor(c string) (at int64, id string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(c)
	if err == nil {
		_, err = fmt.Sscanf(string(raw), "%d %s", &at, &id)
	}
	if err != nil {
		return 0, "", fmt.Errorf("%w: the cursor is not one that a list returned", ErrInvalidQuery)
	}
	return at, id, nil
}

// Counts returns how many dead letters are in each state.
func (db *DB) Counts(ctx context.Context) (map[job.State]int, error) {
	rows, err := db.sql.QueryContext(ctx, `SELECT state, COUNT(*) FROM dead_letters GROUP BY state`)
	if err != nil {
		return nil, db.wrap(err, "count dead letters")
	}
	counts := map[job.State]int{}
	_, err = collect(rows, func(scan scanner) (struct{}, error) {
		var state job.State
		var n int
		err := scan(&state, &n)
		counts[state] = n
		return struct{}{}, err
	})
	return counts, db.wrap(err, "count dead letters")
}
