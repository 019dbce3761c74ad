package worker

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// CarryLog is the connection's interceptor.
var CarryLog = carryLog

// MergedPolicies returns the complete set that a worker with o would use.
func (o Options) MergedPolicies() (job.Policies, error) { return o.withDefaults().policies() }

// RunPurge purges until ctx ends.
func RunPurge(ctx context.Context, ledger Purger, every time.Duration, now func() time.Time, logger *zap.Logger) {
	purge{ledger, every, now, logger}.run(ctx)
}

// PollerFailed is what the SDK calls, after minutes, when a queue cannot be polled any more.
func (w *Worker) PollerFailed(queue string, err error) { w.failed(queue, err) }
