package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
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
	log      job.AttemptLog
	length   time.Duration // the heartbeat timeout
	activity activity.Info // whose lease it is; payload codecs want to know
	beats    Heartbeats    // nil: the SDK's own heartbeats, which are not acknowledged (tests of one attempt)
	patience time.Duration // how long the handler may go on when the worker stops
	progress *progress
	observe  func(event job.LeaseEvent, n int)

	end context.CancelCauseFunc // of the handler's context

	beating sync.Mutex // one heartbeat at a time: an older one must not overwrite what a newer one says
	running job.Running
	granted time.Time // when the last acknowledged heartbeat was sent; the server's count began later
}

type leaseKey struct{}

// hold starts to heartbeat and returns the handler's context, and how to end both. The first beat comes after a third
// of the lease, so that a short job costs no extra call. root is the activity's own context: a beat on a context that the
// handler cancels would be lost.
func (l *lease) hold(root context.Context) (leased context.Context, release func()) {
	leased, l.end = context.WithCancelCause(context.WithoutCancel(root))
	leased = job.WithLease(context.WithValue(leased, leaseKey{}, l), l.progress)
	forget := context.AfterFunc(root, func() { l.end(jobCause(context.Cause(root))) })
	keeping, stop := context.WithCancel(root)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.keep(keeping, root)
	}()
	go l.drain(keeping, activity.GetWorkerStopChannel(root))
	return leased, func() { stop(); <-done; forget() }
}

// drain ends the handler's context when the worker has been stopping for long enough, and while it still waits for its
// attempts: a process that ended first would leave the job to its lease.
func (l *lease) drain(ctx context.Context, stopping <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-stopping:
		if pause(ctx, l.patience) {
			l.end(job.ErrShutdown)
		}
	}
}

// announce heartbeats until the server has acknowledged what this attempt is about to do, or the lease is over: a crash
// that follows must not look like an attempt that never began.
func (l *lease) announce(leased, root context.Context) {
	for {
		acknowledged, over := l.renew(leased, root)
		if over || acknowledged || !pause(leased, l.length/12) {
			return
		}
	}
}

// alone waits for the suspect's turn and announces that it runs now. It gives up after half a lease: the server's timeout
// for the attempt goes on while it waits, and would cut it short while it runs, as if it had killed its worker.
func (l *lease) alone(leased, root context.Context, suspects *Suspects) (leave func(), entered bool) {
	waiting, cancel := context.WithTimeout(leased, max(l.length, job.MinLease)/2)
	defer cancel()
	leave, entered = suspects.enter(waiting)
	if !entered {
		return leave, false
	}
	l.beating.Lock()
	l.running.Waiting, l.running.Sole = false, true
	l.beating.Unlock()
	l.announce(leased, root)
	return leave, true
}

// keep renews until ctx ends or the lease is over.
func (l *lease) keep(ctx, root context.Context) {
	wait := l.length / 3
	for pause(ctx, wait) {
		acknowledged, over := l.renew(ctx, root)
		if over {
			return
		}
		wait = l.length / 3
		if !acknowledged {
			wait = l.length / 12 // nobody answered: soon again, while the lease lasts
		}
	}
}

// renew sends one heartbeat. It tells whether the server acknowledged it, and whether the lease is over.
func (l *lease) renew(ctx, root context.Context) (acknowledged, over bool) {
	l.beating.Lock()
	defer l.beating.Unlock()
	if l.beats == nil {
		l.beat(root)
		return true, false // nobody can tell
	}
	sent, expires := time.Now(), l.granted.Add(l.length-l.length/8)
	bounded, cancel := context.WithDeadline(ctx, earlier(expires, sent.Add(l.length/4))) // one without an answer leaves time for another
	defer cancel()
	err := l.beats.RecordActivityHeartbeatWithOptions(bounded, client.RecordActivityHeartbeatOptions{
		TaskToken: l.activity.TaskToken, Details: l.details(),
		Namespace: l.activity.Namespace, WorkflowID: l.activity.WorkflowExecution.ID, WorkflowType: workflowType(l.activity),
		ActivityType: l.activity.ActivityType.Name, TaskQueue: l.activity.TaskQueue,
	})
	var gone *serviceerror.NotFound
	switch {
	case err == nil:
		l.granted = sent
		l.observe(job.LeaseExtended, 1)
		return true, false
	case ctx.Err() != nil:
		return false, true // the attempt has ended by itself
	case errors.As(err, &gone), !time.Now().Before(expires):
		l.end(job.ErrLeaseLost)
		return false, true
	case temporal.IsCanceledError(err), errors.Is(err, activity.ErrActivityPaused), errors.Is(err, activity.ErrActivityReset):
		l.beat(root) // the SDK has to hear it too, or it will not report the attempt as canceled
		l.end(jobCause(err))
		return false, true
	default:
		return false, false
	}
}

// workflowType is nothing for an activity that no workflow started.
func workflowType(info activity.Info) string {
	if info.WorkflowType == nil {
		return ""
	}
	return info.WorkflowType.Name
}

// beat heartbeats through the SDK.
func (l *lease) beat(root context.Context) { activity.RecordHeartbeat(root, l.details()...) }

// details are the report and, behind it, what the handler recorded itself.
func (l *lease) details() []any {
	running := l.running
	return append([]any{job.Report{Log: l.log, Running: &running}}, l.progress.report()...)
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
