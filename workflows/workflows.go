package workflows

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/job"
)

// Workflows are registered with a worker that holds the complete policy set.
type Workflows struct {
	policies job.Policies
	observer job.Observer
}

// New returns the workflows for a policy set. The observer hears of refused ciphertext only; nil is nobody.
func New(policies job.Policies, observer job.Observer) *Workflows {
	if observer == nil {
		observer = job.Unobserved{}
	}
	return &Workflows{policies: policies, observer: observer}
}

// observe tells of an event once, and not again when the history is replayed. A task that fails afterwards tells it twice.
func (w *Workflows) observe(ctx workflow.Context, t job.Type, event job.PrivacyEvent) {
	if !workflow.IsReplaying(ctx) {
		w.observer.Privacy(t, event)
	}
}

// Priorities within the task queues, 1 first: what an operator waits for goes before what a crowd of jobs waits for.
const (
	priorityOperator = 2
	priorityRecord   = 2
	priorityReplay   = 4
)

// storeOptions are for activities on the store's queue: they are retried until the store is there again.
func storeOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           job.QueueStore,
		StartToCloseTimeout: 20 * time.Second, // a lost store worker costs this long
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 15 * time.Second,
		},
		Priority: temporal.Priority{PriorityKey: priorityRecord},
	})
}

// inputBytes returns the bytes a client sent, whatever its encoding says; none or null is empty.
func inputBytes(raw converter.RawValue) json.RawMessage {
	if raw.Payload() == nil {
		return nil
	}
	return raw.Payload().GetData()
}
