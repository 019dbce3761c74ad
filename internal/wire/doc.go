// Package wire is the one codec between job.Failure and Temporal's ApplicationError.
//
// An error class crosses Temporal as the type of an ApplicationError, its report as the error's details. Only this
// package makes or reads one; everywhere else a failure is a job.Failure. It exists because Temporal looks at the
// outermost Go error only: a class that is wrapped, joined or spelled by hand would silently become retryable.
package wire
