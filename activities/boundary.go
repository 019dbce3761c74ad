package activities

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// Boundary is the worker interceptor through which every activity result passes. Whatever an activity returns, Temporal
// sees nothing, a cancellation, or exactly one ApplicationError whose type is a class and whose text is scrubbed.
type Boundary struct {
	interceptor.WorkerInterceptorBase
	redactor *redaction.Redactor
}

// NewBoundary returns the interceptor. The texts of activities that have no payload of their own are scrubbed by the
// built-in rules.
func NewBoundary() (*Boundary, error) {
	redactor, err := redaction.Compile(redaction.Policy{})
	if err != nil {
		return nil, fmt.Errorf("built-in redaction rules: %w", err)
	}
	return &Boundary{redactor: redactor}, nil
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (b *Boundary) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	inbound := &boundaryInbound{redactor: b.redactor}
	inbound.Next = next
	return inbound
}

type boundaryInbound struct {
	interceptor.ActivityInboundInterceptorBase
	redactor *redaction.Redactor
}

func (b *boundaryInbound) Init(outbound interceptor.ActivityOutboundInterceptor) error {
	lease := &leaseOutbound{}
	lease.Next = outbound
	return b.Next.Init(lease)
}

func (b *boundaryInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, b.encode(job.HandlerDefect(fmt.Errorf("panic: %s\n%s", panicText(p), debug.Stack())))
		}
	}()
	result, err = b.Next.ExecuteActivity(ctx, in)
	if err != nil {
		return nil, b.encode(err)
	}
	return result, nil
}

func (b *boundaryInbound) encode(err error) error {
	var failure *job.Failure
	switch {
	case errors.Is(err, activity.ErrResultPending), temporal.IsCanceledError(err):
		return err
	case errors.As(err, &failure):
		return wire.Encode(failure)
	case errors.Is(err, errLogLocked):
		return wire.EncodeWithoutReport(errLogLocked.Error())
	}
	// Of the attempts only a *job.Failure ends a job. What else fails here writes dead letters or drives replays: it is
	// retried, since nobody else would write them.
	class, _ := job.Classify(err, nil)
	return wire.Encode(&job.Failure{
		Class:   class,
		Message: fitting(b.redactor.Text(job.Text(err), redaction.Taint{})),
	})
}
