package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"github.com/redrivehq/redrive/job"
)

// lease keeps one attempt alive. Every heartbeat carries the log, since a heartbeat replaces the details of the one
// before it, and says who is running, since that is how a later attempt recognises a lost lease.
type lease struct {
	log      job.AttemptLog
	running  job.Running
	interval time.Duration

	mu       sync.Mutex
	progress []any // what the handler recorded itself
}

type leaseKey struct{}

func (l *lease) into(ctx context.Context) context.Context {
	return context.WithValue(ctx, leaseKey{}, l)
}

// hold heartbeats until release is called. The first beat comes after one interval, so that a short job costs no
// extra call; a later attempt says at once that it is running, since the attempts before it were not that lucky.
// All beats use the activity's root context: a beat on a context that the handler cancels would be lost.
func (l *lease) hold(ctx context.Context, now bool) (release func()) {
	if now {
		l.beat(ctx)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(max(l.interval, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ctx.Done():
				return
			case <-ticker.C:
				l.beat(ctx)
			}
		}
	}()
	return func() { close(stop); <-done }
}

func (l *lease) beat(ctx context.Context) {
	l.mu.Lock()
	progress := l.progress
	l.mu.Unlock()
	activity.RecordHeartbeat(ctx, progress...) // the outbound interceptor puts the report in front
}

func (l *lease) report() job.Report { return job.Report{Log: l.log, Running: &l.running} }

func (l *lease) keep(progress []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress = progress
}

// leaseOutbound merges a handler's own heartbeat details with the attempt log: the report is the first detail, the
// handler's follow, and reading them skips the report.
type leaseOutbound struct {
	interceptor.ActivityOutboundInterceptorBase
}

func (o *leaseOutbound) RecordHeartbeat(ctx context.Context, details ...any) {
	l, ok := ctx.Value(leaseKey{}).(*lease)
	if !ok {
		o.Next.RecordHeartbeat(ctx, details...)
		return
	}
	l.keep(details)
	o.Next.RecordHeartbeat(ctx, append([]any{l.report()}, details...)...)
}

func (o *leaseOutbound) GetHeartbeatDetails(ctx context.Context, into ...any) error {
	if _, ok := ctx.Value(leaseKey{}).(*lease); !ok {
		return o.Next.GetHeartbeatDetails(ctx, into...)
	}
	var report job.Report
	return o.Next.GetHeartbeatDetails(ctx, append([]any{&report}, into...)...)
}
