// Package activities runs what may fail: the attempts of handlers, the writing of dead letters, and the probes.
//
//   - Registry holds the typed handlers, erased once to bytes in, bytes out.
//   - attempt.go is one execution of a handler under its lease. Temporal counts attempts that are not the handler's
//     fault; the runner counts those that are, in a log that travels with the failures (job.AttemptLog).
//   - boundary.go is the one place through which an error reaches Temporal. It recovers panics, classifies, bounds,
//     scrubs, and returns exactly one ApplicationError. The SDK logs raw errors before any failure converter sees
//     them, so nothing unscrubbed may leave here.
//   - death.go writes the redacted record of a job that stopped, together with its encrypted payload, in one
//     transaction; done twice for one run it changes nothing.
//
// A lease is not a fence: an attempt whose lease lapsed may still be running. Effects need the ledger, or a downstream
// system that deduplicates by the job key.
package activities
