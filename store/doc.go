// Package store keeps dead letters, sealed payloads and the log of operators' decisions in SQL.
//
// It is a projection: the Replay workflow of a key owns the dead letter's state, and its activities write it here. What
// the store alone holds is what operators asked for and what was decided.
//
//	dead_letters  one row per job key: where it stands, and its newest failure for lists and filters
//	failures      one row per run that failed, by (dead letter, run); the first is the original and never changes
//	replays       one row per replay, by (dead letter, number); begun, then finished with an outcome
//	requests      one row per operator request, by (dead letter, kind, request id); refused ones too
//	payloads      sealed payloads by reference
//
// Every write is one transaction and idempotent, since Temporal may run an activity any number of times: the first
// write of a failure, a request or an outcome wins, and a late or repeated one changes nothing.
//
// DB is made by store/sqlite or store/postgres, which bring dialect and migrations; drivers are imported by programs.
// Errors name the operation and the identity, and never quote SQL arguments, which can be customers' data.
package store
