package worker

import "github.com/redrivehq/redrive/job"

// CarryLog is the connection's interceptor.
var CarryLog = carryLog

// MergedPolicies returns the complete set that a worker with o would use.
func (o Options) MergedPolicies() (job.Policies, error) { return o.withDefaults().policies() }

// PollerFailed is what the SDK calls, after minutes, when a queue cannot be polled any more.
func (w *Worker) PollerFailed(queue string, err error) { w.failed(queue, err) }
