package wire

import (
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
)

// Encode returns the ApplicationError for f: type is the class, details are the report and, behind it and only when a
// retry follows, the handler's progress; the worker's connection takes that off again, see worker.Dial.
func Encode(f *job.Failure) error {
	options := temporal.ApplicationErrorOptions{
		NonRetryable: f.Final,
		Details:      []any{f.Report},
	}
	if !f.Final {
		options.Details = append(options.Details, f.Progress...)
		options.NextRetryDelay = f.Delay
	}
	if f.Benign {
		options.Category = temporal.ApplicationErrorCategoryBenign
	}
	return temporal.NewApplicationErrorWithOptions(f.Message, string(f.Class), options)
}

// EncodeWithoutReport returns the ApplicationError of an attempt that learned nothing: it is tried again, and what the
// server has of the attempts before stays.
func EncodeWithoutReport(message string) error {
	return temporal.NewApplicationErrorWithOptions(message, string(job.ClassTransient), temporal.ApplicationErrorOptions{
		Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// CheckReadable panics when the details of err cannot be decrypted for a reason that may pass: the workflow task then fails
// and is tried again. The SDK does so by itself for results, but not for what an error carries. Workflows call it, nobody
// else.
func CheckReadable(err error) {
	var details converter.RawValue
	var passing *converter.WorkflowTaskFailureError
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.HasDetails() && errors.As(app.Details(&details), &passing) {
		panic(fmt.Sprintf("read the details of a failure: %v", passing))
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) && timeout.HasLastHeartbeatDetails() && errors.As(timeout.LastHeartbeatDetails(&details), &passing) {
		panic(fmt.Sprintf("read the last heartbeat of a failure: %v", passing))
	}
}

// Decode reads what an activity's last attempt left, as a workflow sees it. The cause is set. An error that no attempt
// of ours made (a timeout, a type that is not a class) is classified here. Cancellation is not a failure: ask
// temporal.IsCanceledError first. It panics as CheckReadable does.
func Decode(err error) job.Failure {
	CheckReadable(err)
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return decodeTimeout(timeout)
	}
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		return job.Failure{
			Class: job.ClassTransient, Message: "the attempt ended without a verdict",
			Report: job.Report{Cause: job.CauseAttemptsSpent},
		}
	}
	f := decodeApplication(app)
	if f.Report.Cause != "" {
		return f
	}
	f.Report.Cause = job.CauseAttemptsSpent
	var act *temporal.ActivityError
	switch {
	case f.Class.Final():
		f.Report.Cause = f.Class.FinalCause()
	case errors.As(err, &act) && act.RetryState() == enumspb.RETRY_STATE_TIMEOUT:
		f.Report.Cause = job.CauseDeadlinePassed
	}
	return f
}

func decodeApplication(app *temporal.ApplicationError) job.Failure {
	f := job.Failure{Class: job.Class(app.Type()), Message: app.Message()}
	if app.HasDetails() {
		if err := app.Details(&f.Report); err != nil {
			f.Report = job.Report{}
		}
	}
	if !f.Class.Known() {
		// The SDK's own refusals, such as a result above the size limit, come back under their own type.
		f.Class = job.ClassHandlerDefect
		f.Message = "the attempt was refused by the runtime: " + app.Type()
	}
	return f
}

// decodeTimeout reads a job that ran out of time. The last failure is the timeout's cause; when the last attempt left
// none, its heartbeat tells whether it ran.
func decodeTimeout(timeout *temporal.TimeoutError) job.Failure {
	var app *temporal.ApplicationError
	if errors.As(timeout.Unwrap(), &app) {
		f := decodeApplication(app)
		f.Report.Cause = job.CauseDeadlinePassed
		return f
	}
	f := job.Failure{Class: job.ClassTimeout, Message: "the deadline passed before an attempt ended in a verdict"}
	if timeout.HasLastHeartbeatDetails() {
		if err := timeout.LastHeartbeatDetails(&f.Report); err != nil {
			f.Report = job.Report{}
		}
	}
	var inner *temporal.TimeoutError
	lost := timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT ||
		errors.As(timeout.Unwrap(), &inner) && inner.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT
	if lost {
		f.Class, f.Message = job.ClassLeaseLost, "the deadline passed after the lease was lost"
	}
	if running := f.Report.Running; running != nil && !running.Waiting {
		f.Report.Version = running.Version
		if lost {
			f.Report.Log = f.Report.Log.Add(running.Lost(running.Started)) // nobody knows how long it ran
		}
	}
	f.Report.Cause = job.CauseDeadlinePassed
	return f
}

// Started tells whether any attempt left a trace before err.
func Started(err error) bool {
	f := Decode(err)
	if f.Report.Log.Leases > 0 || f.Report.Running != nil {
		return true
	}
	var timeout *temporal.TimeoutError
	if !errors.As(err, &timeout) {
		return true
	}
	return timeout.TimeoutType() != enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE &&
		timeout.TimeoutType() != enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START || timeout.Unwrap() != nil
}
