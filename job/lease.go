package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

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
	// ErrStalled: the handler reported no progress for longer than the policy's stall limit; see Lease.Progress.
	ErrStalled = errors.New("no progress was reported within the stall limit")
)

// MaxProgressBytes bounds the state of Lease.Progress, encoded. The server stores it again with every heartbeat: it is a
// position, not data.
const MaxProgressBytes = 16 << 10

// LeaseKeeper is the side of a lease that extends it; the attempt runner is one. It is safe for concurrent use.
type LeaseKeeper interface {
	// Progress takes in that the work goes on and, unless it is nil, the JSON to resume from.
	Progress(state json.RawMessage)
	// Resume returns the latest such JSON of this attempt or an earlier one; nil when there is none.
	Resume() json.RawMessage
}

// Lease is the handler's view of its right to work on the job. It is extended without the handler's doing; what a
// handler adds is how far it has come. Outside an attempt it is inert, so that handlers can be called in tests.
type Lease struct{ keeper LeaseKeeper }

type leaseKey struct{}

// WithLease returns ctx carrying the lease that k extends; the attempt runner calls it, and tests of handlers may.
func WithLease(ctx context.Context, k LeaseKeeper) context.Context {
	return context.WithValue(ctx, leaseKey{}, k)
}

// LeaseFrom returns the lease of the running attempt.
func LeaseFrom(ctx context.Context) Lease {
	keeper, _ := ctx.Value(leaseKey{}).(LeaseKeeper)
	return Lease{keeper: keeper}
}

// Progress says that the work goes on, which is what the policy's stall limit counts, and keeps state, as JSON, for the
// attempt that comes after this one, whether this one fails, is handed back or loses its lease. It makes no call: state
// travels with the next heartbeat, so a process that is killed loses at most what was reported within a third of the
// lease. A nil state leaves the last one in place. Keep no secrets in it: it is stored in Temporal.
//
// The error is a handler defect: state that does not encode, or is above MaxProgressBytes. The last state then stays.
func (l Lease) Progress(state any) error {
	var encoded json.RawMessage
	if state != nil {
		var err error
		if encoded, err = json.Marshal(state); err != nil {
			return HandlerDefect(fmt.Errorf("progress: %T does not encode to JSON: %w", state, err))
		}
		if len(encoded) > MaxProgressBytes {
			return HandlerDefect(fmt.Errorf("progress: the state is %d bytes, at most %d are kept", len(encoded), MaxProgressBytes))
		}
	}
	if l.keeper != nil {
		l.keeper.Progress(encoded)
	}
	return nil
}

// Resume decodes the last state that this job's attempts reported into into, and tells whether there was one. A replay
// starts without. The error is a handler defect: the state does not decode into that type.
func (l Lease) Resume(into any) (found bool, err error) {
	if l.keeper == nil {
		return false, nil
	}
	state := l.keeper.Resume()
	if state == nil {
		return false, nil
	}
	if err := json.Unmarshal(state, into); err != nil {
		return false, HandlerDefect(fmt.Errorf("resume: the stored state does not decode into %T: %w", into, err))
	}
	return true, nil
}
