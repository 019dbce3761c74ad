package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
)

// maxProgress is how many details of a handler's own outlive an attempt.
const maxProgress = 16

// progress is how far the handler has come: what it left for a later attempt, and when it last reported. It starts with
// what the attempts before left, since a heartbeat or a failure replaces what the server has stored.
type progress struct {
	resumed bool // an earlier attempt left something

	mu      sync.Mutex
	details []any // encoded when they were reported, so that a handler may go on to change them
	moved   time.Time
}

// resume reads what the handler recorded in the attempts before, behind the report.
func resume(ctx context.Context) *progress {
	p := &progress{moved: time.Now()}
	if !activity.HasHeartbeatDetails(ctx) {
		return p
	}
	raw := make([]converter.RawValue, 1+maxProgress)
	into := make([]any, len(raw))
	for i := range raw {
		into[i] = &raw[i]
	}
	if err := activity.GetHeartbeatDetails(ctx, into...); err != nil {
		return p // inherit has warned
	}
	for _, detail := range raw[1:] {
		if detail.Payload() == nil {
			break
		}
		if _, locked := detail.Payload().GetMetadata()[job.MetadataUnopened]; locked {
			break
		}
		p.details = append(p.details, detail)
	}
	p.resumed = len(p.details) > 0
	return p
}

// report returns the details behind the log's report.
func (p *progress) report() []any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.details
}

// record replaces the details; nil leaves them.
func (p *progress) record(details []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved = time.Now()
	if details != nil {
		p.details = details
	}
}

// Progress implements job.LeaseKeeper.
func (p *progress) Progress(state json.RawMessage) {
	if state == nil {
		p.record(nil)
		return
	}
	p.record([]any{state})
}

// Resume implements job.LeaseKeeper.
func (p *progress) Resume() json.RawMessage {
	details := p.report()
	if len(details) == 0 {
		return nil
	}
	switch first := details[0].(type) {
	case json.RawMessage:
		return first
	case converter.RawValue:
		if string(first.Payload().GetMetadata()[converter.MetadataEncoding]) == converter.MetadataEncodingJSON {
			return first.Payload().GetData()
		}
	}
	return nil // recorded through the SDK, in an encoding of its own
}

// watch ends the handler's context once nothing was reported for limit. It returns when ctx ends.
func (p *progress) watch(ctx context.Context, limit time.Duration, end context.CancelCauseFunc) {
	p.record(nil) // the time before the handler began is not its own
	for {
		p.mu.Lock()
		left := limit - time.Since(p.moved)
		p.mu.Unlock()
		if left <= 0 {
			end(job.ErrStalled)
			return
		}
		if !pause(ctx, left) {
			return
		}
	}
}

// pause waits; it returns false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
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
	l.progress.record(snapshot(details))
	if l.beats == nil {
		l.beating.Lock()
		defer l.beating.Unlock()
		o.Next.RecordHeartbeat(ctx, l.details()...)
	}
}

// snapshot encodes details at once, as the SDK does, and panics, as the SDK does, over what cannot be kept: the caller is
// the handler, and RecordHeartbeat has no other way to tell it.
func snapshot(details []any) []any {
	if len(details) > maxProgress {
		panic(fmt.Sprintf("RecordHeartbeat: %d details, at most %d are kept", len(details), maxProgress))
	}
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(details...)
	if err != nil {
		panic(fmt.Sprintf("RecordHeartbeat: %v", err))
	}
	encoded, size := make([]any, len(details)), 0
	for i, p := range payloads.GetPayloads() {
		encoded[i], size = converter.NewRawValue(p), size+len(p.GetData())
	}
	if size > job.MaxProgressBytes {
		panic(fmt.Sprintf("RecordHeartbeat: the details are %d bytes, at most %d are kept", size, job.MaxProgressBytes))
	}
	return encoded
}

func (o *leaseOutbound) HasHeartbeatDetails(ctx context.Context) bool {
	if l, ok := ctx.Value(leaseKey{}).(*lease); ok {
		return l.progress.resumed
	}
	return o.Next.HasHeartbeatDetails(ctx)
}

func (o *leaseOutbound) GetHeartbeatDetails(ctx context.Context, into ...any) error {
	l, ok := ctx.Value(leaseKey{}).(*lease)
	switch {
	case !ok:
		return o.Next.GetHeartbeatDetails(ctx, into...)
	case !l.progress.resumed:
		return temporal.ErrNoData
	}
	var report converter.RawValue
	return o.Next.GetHeartbeatDetails(ctx, append([]any{&report}, into...)...)
}
