package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Limits of a page, in dead letters.
const (
	DefaultPage = 50
	MaxPage     = 500
)

// ErrInvalidQuery is wrapped when a limit is out of range or a cursor was not made by DeadLetters.
var ErrInvalidQuery = errors.New("invalid query")

// Query selects dead letters by their newest failure. Zero fields select all.
type Query struct {
	State       job.State
	Type        job.Type
	Class       job.Class
	Cause       job.Cause
	Fingerprint string
	Version     string    // the handler's
	Since       time.Time // last failure at or after
	Until       time.Time // last failure before
	Cursor      string    // Page.Next of the page before; the other fields must be the same
	Limit       int       // DefaultPage when zero, at most MaxPage
}

// Page is one page of a list. Next is empty on the last one.
type Page struct {
	Letters []job.DeadLetter
	Next    string
}

// DeadLetters lists dead letters, newest last failure first, without their lineage and without redacted payloads (a
// page of those could weigh a gigabyte): DeadLetter has both. An error wraps ErrInvalidQuery or is the database's.
//
// Letters that are added while somebody pages do not disturb: they belong to pages before. One that fails again moves
// to the front, so it may be missed by this walk, but no walk shows a letter twice.
func (db *DB) DeadLetters(ctx context.Context, q Query) (Page, error) {
	limit, err := q.limit()
	if err != nil {
		return Page{}, err
	}
	where, args, err := q.where()
	if err != nil {
		return Page{}, err
	}
	var letters []job.DeadLetter
	err = db.query(ctx, db.sql, func(row scanner) error {
		var l job.DeadLetter
		err := row.Scan(append(letterFields(&l), failureFields(&l.FailureRecord)...)...)
		letters = append(letters, l)
		return err
	}, `SELECT `+letterColumns+`, `+failureColumns+`
		FROM dead_letters d JOIN failures f ON f.dead_letter_id = d.id AND f.run_id = d.run_id`+where+`
		ORDER BY d.last_failure DESC, d.id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return Page{}, db.wrap(ctx, err, "list dead letters")
	}
	if len(letters) <= limit {
		return Page{Letters: letters}, nil
	}
	return Page{Letters: letters[:limit], Next: cursorAfter(letters[limit-1])}, nil
}

func (q Query) limit() (int, error) {
	switch {
	case q.Limit == 0:
		return DefaultPage, nil
	case q.Limit < 0 || q.Limit > MaxPage:
		return 0, fmt.Errorf("%w: the limit is %d, allowed are 1 to %d", ErrInvalidQuery, q.Limit, MaxPage)
	default:
		return q.Limit, nil
	}
}

func (q Query) where() (clause string, args []any, err error) {
	var conditions []string
	add := func(set bool, condition string, values ...any) {
		if set {
			conditions, args = append(conditions, condition), append(args, values...)
		}
	}
	add(q.State != "", "d.state = ?", q.State)
	add(q.Type != "", "d.job_type = ?", q.Type)
	add(q.Class != "", "d.class = ?", q.Class)
	add(q.Cause != "", "d.cause = ?", q.Cause)
	add(q.Fingerprint != "", "d.fingerprint = ?", q.Fingerprint)
	add(q.Version != "", "d.version = ?", q.Version)
	add(!q.Since.IsZero(), "d.last_failure >= ?", micros(q.Since))
	add(!q.Until.IsZero(), "d.last_failure < ?", micros(q.Until))
	if q.Cursor != "" {
		at, id, err := parseCursor(q.Cursor)
		if err != nil {
			return "", nil, err
		}
		add(true, "(d.last_failure, d.id) < (?, ?)", at, id)
	}
	if len(conditions) == 0 {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(conditions, " AND "), args, nil
}

// A cursor is the place of the last letter shown, encoded so that nobody builds on its form.
func cursorAfter(l job.DeadLetter) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(micros(l.LastFailure), 10) + " " + string(l.ID)))
}

var errForeignCursor = fmt.Errorf("%w: the cursor is not one that a page came with", ErrInvalidQuery)

func parseCursor(cursor string) (at int64, id string, err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, "", errForeignCursor
	}
	number, id, found := strings.Cut(string(decoded), " ")
	at, err = strconv.ParseInt(number, 10, 64)
	if err != nil || !found {
		return 0, "", errForeignCursor
	}
	return at, id, nil
}

// Counts returns how many dead letters are in each state; states without any are absent.
func (db *DB) Counts(ctx context.Context) (map[job.State]int, error) {
	counts := map[job.State]int{}
	err := db.query(ctx, db.sql, func(row scanner) error {
		var state job.State
		var n int
		err := row.Scan(&state, &n)
		counts[state] = n
		return err
	}, `SELECT state, COUNT(*) FROM dead_letters GROUP BY state`)
	if err != nil {
		return nil, db.wrap(ctx, err, "count dead letters")
	}
	return counts, nil
}
