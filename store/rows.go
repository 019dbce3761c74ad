package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// scanner reads the current row.
type scanner func(into ...any) error

// collect reads all rows and closes them.
func collect[T any](rows *sql.Rows, read func(scanner) (T, error)) (all []T, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		item, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, rows.Err()
}

// encode returns a record's JSON as it is stored. HTML escapes are off: they would change redacted payloads.
func encode(v any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "", fmt.Errorf("encode %T: %w", v, err)
	}
	// JSON spells NUL as an escape, which every database takes as text.
	return text(string(bytes.TrimSpace(b.Bytes()))), nil
}

func decode(record string, into any) error {
	if err := json.Unmarshal([]byte(record), into); err != nil {
		return fmt.Errorf("decode %T: %w", into, err)
	}
	return nil
}

func isNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
