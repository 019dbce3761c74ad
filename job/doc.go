// Package job holds the nouns of redrive: what a job is, how it fails, and what an operator may do about it.
//
// A new reader starts here, goes on to workflows/job.go (the life of one job) and to activities/attempt.go
// (one execution of a handler under a lease).
//
//   - A job is one unit of work, identified for ever by its [KeyID]: a [Type] and a [Key], unique per type.
//     It is started with an [Envelope], plain JSON that any Temporal client can write.
//   - A [Handler] is the user's code for a type, registered by a [Definition]. One execution is an attempt: it runs
//     under a lease that heartbeats extend, and ends in a verdict that is one [Class] of a closed list.
//   - A [Class] has a [Disposition]. Only a verdict of the handler counts against [Policy.MaxAttempts]; lost leases,
//     drains and rate limits do not.
//   - A job that stops for good becomes a [DeadLetter]: a redacted, durable record that says why ([Cause]). Its payload
//     lives encrypted in the vault, behind a [PayloadRef] that is safe to copy anywhere.
//   - An operator's [Request] moves a dead letter: replay, discard, annotate. A replay runs the job again under its
//     original key and ends in an [Outcome], which is recorded apart from the original failure.
//
// Who owns what: the workflow owns the state; the store is a projection of it plus the log of what operators decided.
// The package imports neither Temporal nor SQL nor HTTP, so that every decision in it can be tested by calling it.
// File wire.go lists every name that Temporal, its CLI or another language's client relies on.
package job
