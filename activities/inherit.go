package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// lapses are the attempts since the last one that left a verdict.
type lapses struct {
	expired     int // the handler ran, and then the lease lapsed
	undelivered int // no trace at all
}

// inherit reads the log of earlier attempts. A heartbeat of an attempt that left no verdict is a lost lease.
func (r *Runner) inherit(ctx context.Context) (job.AttemptLog, lapses) {
	before := int(activity.GetInfo(ctx).Attempt) - 1
	if !activity.HasHeartbeatDetails(ctx) {
		return job.AttemptLog{}, lapses{undelivered: before}
	}
	var report job.Report
	if err := activity.GetHeartbeatDetails(ctx, &report); err != nil {
		r.options.Logger.Warn("attempt log unreadable", zap.String("job_type", string(r.entry.definition.Type)))
		return job.AttemptLog{}, lapses{}
	}
	if report.Running == nil {
		return report.Log, lapses{undelivered: max(0, before-report.Attempt)} // an operator's reset starts at 1 again
	}
	lapsed := lapses{expired: 1, undelivered: max(0, before-report.Running.Attempt)}
	if report.Running.Waiting {
		return report.Log, lapsed
	}
	return report.Log.Add(job.Attempt{
		Class: job.ClassLeaseLost, Started: report.Running.Started, Ran: r.options.Now().Sub(report.Running.Started),
		Worker: report.Running.Worker, Version: report.Running.Version, Sole: report.Running.Sole,
	}), lapsed
}

func (r *Runner) payload(ctx context.Context, log job.AttemptLog, e job.Envelope) ([]byte, error) {
	if e.PayloadRef == "" {
		return e.Payload, nil
	}
	if r.options.Payloads == nil {
		return nil, r.handBack(log, job.HandedBackNoVault, "this worker has no vault and cannot open a payload reference")
	}
	var payload []byte
	err := fenced(func() (err error) { // a vault that panics is trouble around the job
		payload, err = r.options.Payloads.Open(ctx, e.PayloadRef, e.ID())
		return err
	})
	if errors.Is(err, job.ErrPayloadGone) {
		return nil, &job.Failure{
			Class: job.ClassPayloadUnavailable, Message: "the payload is not in the vault, or cannot be opened", Final: true,
			Report: job.Report{Log: log, Version: r.options.Version, Cause: job.CausePayloadUnavailable},
		}
	}
	if err != nil {
		r.options.Logger.Warn("vault unavailable", zap.String("job_type", string(e.Type)), zap.String("job_key", string(e.Key)))
		return nil, r.handBack(log, "vault", "the vault could not be reached")
	}
	return payload, nil
}
