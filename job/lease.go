package job

import "errors"

// Why a handler's context ended: context.Cause(ctx) is one of these, or the attempt's own timeout. They tell trouble
// around the job from a job that should stop.
var (
	// ErrLeaseLost: the lease lapsed, or is about to, and nobody acknowledged its extension. Another worker may start
	// the job at any moment; what this attempt still does is nobody's any more.
	ErrLeaseLost = errors.New("lease lost")
	// ErrPaused and ErrReset: an operator paused the attempt, or sent it back to the start.
	ErrPaused = errors.New("attempt paused by an operator")
	ErrReset  = errors.New("attempt reset by an operator")
	// ErrShutdown: this worker stops; the attempt is handed back and runs again elsewhere.
	ErrShutdown = errors.New("worker is shutting down")
	// ErrCanceled: a person canceled the job.
	ErrCanceled = errors.New("job canceled")
	// ErrAttemptTimeout: the attempt ran longer than the policy's timeout.
	ErrAttemptTimeout = errors.New("attempt ran longer than its timeout")
)
