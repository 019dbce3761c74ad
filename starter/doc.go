// Package starter enqueues jobs: the library for services that have work to hand over.
//
// Enqueue starts one Job workflow whose ID is the job's key, so the key is the idempotency: enqueuing it again returns
// the run that exists, with its state, and starts nothing. The same key with another payload is a ConflictError,
// since one of the two callers is wrong. Everything that could be refused is refused before anything is started.
//
// How long a key is remembered is the namespace's retention; with a policy of dedupe: store, a key that is started again
// after that gets the result it had, and its handler does not run (job.OnceForKey).
package starter
