// Package store keeps dead letters, sealed payloads and the log of operators' decisions in SQL.
//
// It is a projection: the Replay workflow of a key owns the dead letter's state, and its activities write it here. What
// outlives Temporal's retention in the store alone are the failures, the sealed payloads, and what operators asked for.
//
//	dead_letters  one row per job key: where it stands, and what lists filter of its newest failure
//	failures      one row per run that failed, by (dead letter, run); never changed
//	replays       one row per replay, by (dead letter, number); begun, then finished with an outcome, then never changed
//	requests      one row per operator request, by (dead letter, request id, kind), refused ones too; never changed
//	audit         who saw payloads as they are, and who erased; never changed
//	erasures      tombstones of erased data, one per job key
//	payloads      sealed payloads by reference; an erased one keeps its row, so that no late writer brings it back
//
// Every write is one transaction: when a method returns nil, all of it is durable, and after an error none of it is
// (unless the connection broke while the answer to COMMIT was on its way: call again). Every write is idempotent, since
// Temporal may run an activity any number of times: the first write of a failure, a request or an outcome wins, and a
// late or repeated one changes nothing, not even the state. Writes about one dead letter take that letter's row lock
// first and so happen one after the other.
//
// With SQLite in WAL mode and synchronous=NORMAL, "durable" survives a kill of the process at any point; a power cut may
// take the last commits. Postgres survives both under its default synchronous_commit.
//
// DB is made by store/sqlite or store/postgres, which bring dialect and migrations; drivers are imported by programs.
// Times are UTC in microseconds since 1970 in both (to_timestamp(last_failure / 1e6) reads them in Postgres). Text that a
// database cannot hold, NUL and invalid UTF-8, is stored with U+FFFD in its place. Errors name the operation, the
// identity and the database's code, and never quote SQL, its arguments or an address.
package store
