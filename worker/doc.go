// Package worker runs redrive in a service: it is the only place where workflows and activities meet.
//
// A service registers its handlers, dials Temporal with Dial, and runs a Worker. What the worker polls follows from
// what it is given:
//
//   - Handlers: for each job type its lane redrive.<type> and, for probes, redrive.<type>.control.
//   - Policies, the complete set: also redrive (all workflows) and redrive.store (dead-letter activities). A worker
//     that holds only some policies must not have them: whichever worker takes a workflow task sets the leases.
//
// Dial matters: its connection carries the attempt log (job.AttemptLog) inside the failure response, atomically with
// the failure and without a call of its own. New therefore takes nothing else.
package worker
