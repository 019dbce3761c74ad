// Package replay carries an operator's requests to the dead letters they are about.
//
// A request is a signal to the dead letter's Replay workflow, sent with start: the record can be seen before that
// workflow exists, and one that was terminated is healed by the next request. The signal is durable once Send returns,
// also while no worker runs. The decision comes back through the store, where Replay records every one under its
// request id; sending the same id again changes nothing and finds the same decision.
package replay
