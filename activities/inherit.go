package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// inheritance is what the attempts before left.
type inheritance struct {
	log         job.AttemptLog
	handBacks   int           // in a row, for the same kind of obstacle; see obstructed
	expired     int           // leases that lapsed while the handler ran, since the last verdict
	undelivered int           // attempts since then that left no trace at all
	early       time.Duration // until this attempt should have started
}

// errLogLocked ends an attempt that cannot read the log of those before it yet: their worker encrypted it with a key that
// this process does not have. The failure has no details, so the server keeps the log for an attempt that can.
var errLogLocked = errors.New("the attempt log cannot be decrypted yet")

// inherit reads the log of earlier attempts. A heartbeat of an attempt that left no verdict is a lost lease.
func (r *Runner) inherit(ctx context.Context) (inheritance, error) {
	info := activity.GetInfo(ctx)
	before := int(info.Attempt) - 1
	if !activity.HasHeartbeatDetails(ctx) {
		return inheritance{undelivered: before}, nil
	}
	var report job.Report
	if err := activity.GetHeartbeatDetails(ctx, &report); err != nil {
		r.options.Logger.Warn("attempt log unreadable", zap.String("job_type", string(r.entry.definition.Type)))
		var passing *converter.WorkflowTaskFailureError // a codec's word for trouble that may pass
		if errors.As(err, &passing) {
			return inheritance{}, errLogLocked
		}
		return inheritance{}, nil
	}
	if report.Running == nil { // an operator's reset starts at 1 again
		left := inheritance{log: report.Log, handBacks: report.HandBacks, undelivered: max(0, before-report.Attempt)}
		if before >= report.Attempt {
			left.early = report.NotBefore.Sub(info.StartedTime)
		}
		return left, nil
	}
	left := inheritance{log: report.Log, expired: 1, undelivered: max(0, before-report.Running.Attempt)}
	if !report.Running.Waiting {
		left.log = left.log.Add(report.Running.Lost(r.options.Now()))
	}
	return left, nil
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
		return nil, r.handBack(log, backForVault, "the vault could not be reached")
	}
	return payload, nil
}
