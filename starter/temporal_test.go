package starter_test

import (
	"context"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/job"
)

var order = job.KeyID{Type: "email.send", Key: "order-1001"}

// run is a workflow execution that fakeTemporal knows.
type run struct {
	status enumspb.WorkflowExecutionStatus
	parent string    // workflow ID
	state  job.State // the search attribute
}

// fakeTemporal answers from maps. What it does not answer panics: it is a nil client.Client.
type fakeTemporal struct {
	client.Client

	runs    map[string]run    // by workflow ID, the latest run
	inputs  map[string]string // by run ID, JSON
	taken   string            // the run ID that has the key; empty starts
	pollers int
	err     error // what describing a lane, and reading a history, answers when set

	mu        sync.Mutex
	started   []client.StartWorkflowOptions
	envelopes []job.Envelope
	described int // lanes
	canceled  []string
}

func (f *fakeTemporal) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started, f.envelopes = append(f.started, o), append(f.envelopes, args[0].(job.Envelope))
	if f.taken != "" {
		return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("taken", "", f.taken)
	}
	return startedRun{}, nil
}

type startedRun struct{ client.WorkflowRun }

func (startedRun) GetRunID() string { return "run-new" }

func (f *fakeTemporal) DescribeWorkflow(_ context.Context, workflowID, _ string) (*client.WorkflowExecutionDescription, error) {
	r, known := f.runs[workflowID]
	if !known {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	info := &workflowpb.WorkflowExecutionInfo{}
	if r.parent != "" {
		info.ParentExecution = &commonpb.WorkflowExecution{WorkflowId: r.parent}
	}
	if r.state != "" {
		info.SearchAttributes = &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{
			job.AttrJobState: {Data: []byte(`"` + r.state + `"`)},
		}}
	}
	description := &client.WorkflowExecutionDescription{
		RawResponse: &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info},
	}
	description.Status, description.WorkflowExecution.RunID = r.status, "run-latest"
	return description, nil
}

func (f *fakeTemporal) DescribeTaskQueue(context.Context, string, enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.described++
	return &workflowservice.DescribeTaskQueueResponse{Pollers: make([]*taskqueuepb.PollerInfo, f.pollers)}, f.err
}

func (f *fakeTemporal) CancelWorkflow(_ context.Context, workflowID, runID string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.canceled = append(f.canceled, workflowID+" "+runID)
	return nil
}

func (f *fakeTemporal) GetWorkflowHistory(
	_ context.Context, _, runID string, _ bool, _ enumspb.HistoryEventFilterType,
) client.HistoryEventIterator {
	input, known := f.inputs[runID]
	switch {
	case f.err != nil:
		return &oneEvent{err: f.err}
	case !known:
		return &oneEvent{err: serviceerror.NewNotFound("no such run")}
	}
	return &oneEvent{event: &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{
				Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(input),
			}}},
		},
	}}}
}

type oneEvent struct {
	event *historypb.HistoryEvent
	err   error
}

func (o *oneEvent) HasNext() bool { return o.event != nil || o.err != nil }

func (o *oneEvent) Next() (*historypb.HistoryEvent, error) { return o.event, o.err }
