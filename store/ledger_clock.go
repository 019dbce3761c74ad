package store

import "github.com/pressly/goose/v3"

// now is the database's clock in microseconds since 1970. The ledger has no other: workers' clocks disagree, and a claim
// must lapse for all of them at once. In Postgres it is the time of the statement, not of the transaction, which may have
// waited for a lock. SQLite's is that of the machine, which all processes on one file share, in milliseconds.
func (d Dialect) now() string {
	if d.Goose == goose.DialectPostgres {
		return `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`
	}
	return `CAST(unixepoch('now', 'subsec') * 1000000 AS INTEGER)`
}
