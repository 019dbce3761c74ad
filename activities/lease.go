package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/redrivehq/redrive/job"
)

// Heartbeats sends a heartbeat and returns when the server has acknowledged it. client.Client is one.
type Heartbeats interface {
	RecordActivityHeartbeatWithOptions(ctx context.Context, options client.RecordActivityHeartbeatOptions) error
}

// lease keeps one attempt alive, and ends it in time. Every heartbeat carries the log, since a heartbeat replaces the
// details of the one before it, and says who is running, since that is how a later attempt recognises a lost lease.
//
// The SDK does not stop an activity whose heartbeats nobody acknowledges, so the lease does: it counts from the moment
// the last acknowledged heartbeat was sent, which is before the server's own count began, and ends the handler's
// context a margin before the server can have given the job away.
type lease struct {
	log     job.AttemptLog
	running job.Running
	length  time.Duration // the heartbeat timeout
	token   []byte
	beats   Heartbeats // nil: the SDK's own heartbeats, which are not acknowledged (tests of one attempt)
	resumed []any      // what the handler recorded in the attempt before, encoded

	end context.CancelCauseFunc // of the handler's context

	mu       sync.Mutex
	progress []any // what the handler recorded itself
}

type leaseKey struct{}

// hold starts to heartbeat and returns the handler's context, and how to end both. The first beat comes after a third
// of the lease, so that a short job costs no extra call; a later attempt says at once that it is running, since the
// attempts before it were not that lucky. root is the activity's own context: a beat on a context that the handler
// cancels would be lost.
func (l *lease) hold(root context.Context, now bool) (leased context.Context, release func()) {
	l.resumed = resume(root)
	l.progress = l.resumed // until the handler records its own: a beat replaces what is stored
	leased, l.end = context.WithCancelCause(context.WithoutCancel(root))
	leased = context.WithValue(leased, leaseKey{}, l)
	forget := context.AfterFunc(root, func() { l.end(jobCause(context.Cause(root))) })
	keeping, stop := context.WithCancel(root)
	acknowledged := time.Now()
	if now {
		acknowledged = l.announce(keeping, root, acknowledged)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.keep(keeping, root, acknowledged)
	}()
	return leased, func() { stop(); <-done; forget() }
}

// announce heartbeats until the server has acknowledged what this attempt is about to do, or the lease is over: a crash
// that follows must not look like an attempt that never began.
func (l *lease) announce(ctx, root context.Context, acknowledged time.Time) time.Time {
	for {
		renewed, over := l.renew(ctx, root, acknowledged)
		if over || !renewed.Equal(acknowledged) {
			return renewed
		}
		timer := time.NewTimer(l.length / 12)
		select {
		case <-ctx.Done():
			timer.Stop()
			return acknowledged
		case <-timer.C:
		}
	}
}

// alone waits for the suspect's turn and announces that it runs now, unless the lease ends first.
func (l *lease) alone(leased, root context.Context, suspects *Suspects) (leave func()) {
	leave, entered := suspects.enter(leased)
	if !entered {
		return leave
	}
	l.mu.Lock()
	l.running.Waiting, l.running.Sole = false, true
	l.mu.Unlock()
	l.announce(leased, root, time.Now())
	return leave
}

// keep renews until ctx ends or the lease is over.
func (l *lease) keep(ctx, root context.Context, acknowledged time.Time) {
	wait := l.length / 3
	for {
		timer := time.NewTimer(max(wait, time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		renewed, over := l.renew(ctx, root, acknowledged)
		if over {
			return
		}
		wait = l.length / 3
		if renewed.Equal(acknowledged) {
			wait = l.length / 12 // nobody answered: soon again, while the lease lasts
		}
		acknowledged = renewed
	}
}

// renew sends one heartbeat. It returns when the last acknowledged one was sent, and whether the lease is over.
func (l *lease) renew(ctx, root context.Context, acknowledged time.Time) (time.Time, bool) {
	if l.beats == nil {
		l.beat(root)
		return time.Now(), false
	}
	sent, expires := time.Now(), acknowledged.Add(l.length-l.length/8)
	bounded, cancel := context.WithDeadline(ctx, expires)
	defer cancel()
	err := l.beats.RecordActivityHeartbeatWithOptions(bounded, client.RecordActivityHeartbeatOptions{
		TaskToken: l.token, Details: l.details(),
	})
	var gone *serviceerror.NotFound
	switch {
	case err == nil:
		return sent, false
	case ctx.Err() != nil:
		return acknowledged, true // the attempt has ended by itself
	case errors.As(err, &gone), !time.Now().Before(expires):
		l.end(job.ErrLeaseLost)
		return acknowledged, true
	case temporal.IsCanceledError(err), errors.Is(err, activity.ErrActivityPaused), errors.Is(err, activity.ErrActivityReset):
		l.beat(root) // the SDK has to hear it too, or it will not report the attempt as canceled
		l.end(jobCause(err))
		return acknowledged, true
	default:
		return acknowledged, false
	}
}

// beat heartbeats through the SDK.
func (l *lease) beat(root context.Context) { activity.RecordHeartbeat(root, l.details()...) }

// details are the report and, behind it, what the handler recorded itself.
func (l *lease) details() []any {
	l.mu.Lock()
	defer l.mu.Unlock()
	running := l.running
	return append([]any{job.Report{Log: l.log, Running: &running}}, l.progress...)
}

// maxProgress is how many details of a handler's own outlive an attempt.
const maxProgress = 16

// resume reads what the handler recorded in the attempt before, behind the report.
func resume(root context.Context) []any {
	if !activity.HasHeartbeatDetails(root) {
		return nil
	}
	raw := make([]converter.RawValue, 1+maxProgress)
	into := make([]any, len(raw))
	for i := range raw {
		into[i] = &raw[i]
	}
	if err := activity.GetHeartbeatDetails(root, into...); err != nil {
		return nil // inherit has warned
	}
	var progress []any
	for _, detail := range raw[1:] {
		if detail.Payload() == nil {
			break
		}
		progress = append(progress, detail)
	}
	return progress
}

// jobCause says in the job's words why the activity's context ended.
func jobCause(cause error) error {
	var gone *serviceerror.NotFound
	switch {
	case errors.Is(cause, sdkworker.ErrWorkerShutdown):
		return job.ErrShutdown
	case errors.Is(cause, activity.ErrActivityPaused):
		return job.ErrPaused
	case errors.Is(cause, activity.ErrActivityReset):
		return job.ErrReset
	case temporal.IsCanceledError(cause):
		return job.ErrCanceled
	case errors.As(cause, &gone):
		return job.ErrLeaseLost
	default:
		return cause
	}
}

// leaseOutbound merges a handler's own heartbeat details with the attempt log: they travel behind the report with the
// lease's next heartbeat, and reading them skips the report.
type leaseOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
}

func (o *leaseOutbound) RecordHeartbeat(ctx context.Context, details ...any) {
	l, ok := ctx.Value(leaseKey{}).(*lease)
	if !ok {
		o.Next.RecordHeartbeat(ctx, details...)
		return
	}
	l.mu.Lock()
	l.progress = details
	l.mu.Unlock()
	if l.beats == nil {
		o.Next.RecordHeartbeat(ctx, l.details()...)
	}
}

func (o *leaseOutbound) HasHeartbeatDetails(ctx context.Context) bool {
	if l, ok := ctx.Value(leaseKey{}).(*lease); ok {
		return len(l.resumed) > 0
	}
	return o.Next.HasHeartbeatDetails(ctx)
}

func (o *leaseOutbound) GetHeartbeatDetails(ctx context.Context, into ...any) error {
	l, ok := ctx.Value(leaseKey{}).(*lease)
	switch {
	case !ok:
		return o.Next.GetHeartbeatDetails(ctx, into...)
	case len(l.resumed) == 0:
		return temporal.ErrNoData
	}
	var report converter.RawValue
	return o.Next.GetHeartbeatDetails(ctx, append([]any{&report}, into...)...)
}
