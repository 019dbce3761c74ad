// Package history reads back, from the history of a run, what it was started with and which build completed it.
//
// It is apart from wire, because workflows import that one and must not have a client within reach.
package history

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/job"
)

// ErrNoInput is wrapped when a run's history does not begin with a start.
var ErrNoInput = errors.New("run has no readable start event")

// Reader reads workflow histories; client.Client is one.
type Reader interface {
	GetWorkflowHistory(
		ctx context.Context, workflowID, runID string, isLongPoll bool, filter enumspb.HistoryEventFilterType,
	) client.HistoryEventIterator
}

// Start reads the first event of a run.
func Start(ctx context.Context, h Reader, workflowID, runID string) (*historypb.WorkflowExecutionStartedEventAttributes, error) {
	iterator := h.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !iterator.HasNext() {
		return nil, fmt.Errorf("history of run %s: %w", runID, ErrNoInput)
	}
	event, err := iterator.Next()
	if err != nil {
		return nil, fmt.Errorf("history of run %s: %w", runID, err)
	}
	started := event.GetWorkflowExecutionStartedEventAttributes()
	if started == nil {
		return nil, fmt.Errorf("history of run %s: %w", runID, ErrNoInput)
	}
	return started, nil
}

// Input returns the bytes a run of a workflow was started with, decoded by the data converter's codecs. No input is empty.
// The error wraps job.ErrPayloadGone when what is there was encrypted for another workflow, or with a key that is gone.
func Input(
	started *historypb.WorkflowExecutionStartedEventAttributes, dc converter.DataConverter, workflow converter.WorkflowSerializationContext,
) ([]byte, error) {
	payloads := started.GetInput().GetPayloads()
	if len(payloads) == 0 {
		return nil, nil
	}
	var raw converter.RawValue
	if err := converter.WithDataConverterSerializationContext(dc, workflow).FromPayload(payloads[0], &raw); err != nil {
		return nil, fmt.Errorf("decode the run's input: %w", err)
	}
	if reason, is := raw.Payload().GetMetadata()[job.MetadataUnopened]; is {
		return nil, fmt.Errorf("decode the run's input: %w: %s", job.ErrPayloadGone, reason)
	}
	return raw.Payload().GetData(), nil
}

// Version returns the build that completed the last activity of a run, as that worker named itself; empty when no
// activity completed, or the server keeps no such mark, or no history.
func Version(ctx context.Context, h Reader, workflowID, runID string) (version string, err error) {
	iterator := h.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var last string
	for iterator.HasNext() {
		event, err := iterator.Next()
		var gone *serviceerror.NotFound
		if errors.As(err, &gone) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("history of run %s: %w", runID, err)
		}
		// A retried activity leaves one start in the history, that of its last attempt.
		if started := event.GetActivityTaskStartedEventAttributes(); started != nil {
			//lint:ignore SA1019 what succeeds the mark is set for workers that are routed by version only
			last = started.GetWorkerVersion().GetBuildId()
		}
		if event.GetActivityTaskCompletedEventAttributes() != nil {
			version = last
		}
	}
	return version, nil
}
