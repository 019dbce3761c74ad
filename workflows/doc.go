// Package workflows holds the deterministic stories: Job, the life of one job, and Replay, the wait of a dead letter
// for its operator.
//
// Job runs the handler's activity on the type's lane, with the lease as its heartbeat timeout; Temporal's RetryPolicy
// does the retrying, so retries cost no history and a successful job has 11 events. When the job stops for good, Job
// runs a compensating activity that never gives up until the redacted record is durable, parks a Replay workflow
// beside it, and only then fails as DeadLettered: nothing is closed before it is recorded.
//
// Replay stays open and idle until somebody with a name and a reason asks for something. It owns the dead letter's
// state; the store is a projection that its activities write. Everything it knows can be loaded again from that
// projection, so a Replay that was terminated is healed by the next request.
//
// The package does no I/O and calls activities by name. Policies are read for activity options only: numbers may
// differ between a run and its replay on another worker, branches may not.
package workflows
