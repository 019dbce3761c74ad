package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdktestsuite "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/workflows"
)

// order is the job that these tests run.
var order = job.KeyID{Type: "email.send", Key: "order-1001.receipt"}

// fixture is a test environment with recording activities in place of the store.
type fixture struct {
	*sdktestsuite.TestWorkflowEnvironment
	notices  []job.DeathNotice
	requests []job.RequestRecord
	replays  []job.ReplayRecord
	parked   job.Parked // what LoadParked answers
	status   job.RunStatus
	probe    func(job.VersionRule) (string, error)
}

func newFixture(t *testing.T, workflowID string) *fixture {
	t.Helper()
	var suite sdktestsuite.WorkflowTestSuite
	f := &fixture{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment()}
	f.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflowID, TaskQueue: job.QueueWorkflows})
	f.SetTestTimeout(20 * time.Second)
	story := workflows.New(job.Policies{}, nil)
	f.RegisterWorkflowWithOptions(story.Job, workflow.RegisterOptions{Name: job.WorkflowJob})
	f.RegisterWorkflowWithOptions(story.Replay, workflow.RegisterOptions{Name: job.WorkflowReplay})
	f.register(job.ActivityRecordDeath, func(_ context.Context, n job.DeathNotice) (job.Death, error) {
		f.notices = append(f.notices, n)
		return job.Death{DeadLettered: job.DeadLettered{
			DeadLetterID: job.NewDeadLetterID(n.Namespace, n.ID), Class: n.Class, Cause: n.Cause, Attempts: n.Report.Log.Counted,
			PayloadRef: "pl_1", Versions: n.Report.Log.Versions,
		}, Summary: "summary", Details: "details"}, nil
	})
	f.register(job.ActivityLoadParked, func(context.Context, job.ReplayInput) (job.Parked, error) { return f.parked, nil })
	f.register(job.ActivitySaveRequest, func(_ context.Context, r job.RequestRecord) error {
		f.requests = append(f.requests, r)
		return nil
	})
	f.register(job.ActivitySaveReplay, func(_ context.Context, r job.ReplayRecord) error {
		f.replays = append(f.replays, r)
		return nil
	})
	f.register(job.ActivityDescribeJob, func(context.Context, job.RunQuery) (job.RunStatus, error) { return f.status, nil })
	f.probe = func(job.VersionRule) (string, error) { return "v2", nil }
	f.register(job.ActivityProbeHandler, func(_ context.Context, rule job.VersionRule) (string, error) { return f.probe(rule) })
	return f
}

func (f *fixture) register(name string, function any) {
	f.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
}

// handler registers the handler activity of the fixture's job type.
func (f *fixture) handler(handle func(job.Assignment) (json.RawMessage, error)) {
	f.register(string(order.Type), func(_ context.Context, a job.Assignment) (json.RawMessage, error) { return handle(a) })
}

// parkedChild makes the Replay that a job parks end with result.
func (f *fixture) parkedChild(result error) {
	f.OnWorkflow(job.WorkflowReplay, mock.Anything, mock.Anything).Return(job.Parked{}, result)
}

func poison(message string) error {
	return wire.Encode(&job.Failure{
		Class: job.ClassInvalidPayload, Message: message, Final: true,
		Report: job.Report{
			Cause: job.CausePoison, Version: "v1", Fingerprint: "abc",
			Log: job.AttemptLog{}.Add(job.Attempt{Class: job.ClassInvalidPayload, Counted: true, Version: "v1"}),
		},
	})
}

// raw is workflow input as another language's client sends it.
func raw(text string) converter.RawValue {
	return converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)},
		Data:     []byte(text),
	})
}

func decodeDead(t *testing.T, err error) job.DeadLettered {
	t.Helper()
	dead, ok := wire.DecodeDeadLettered(err)
	require.True(t, ok, "the workflow's error is %v, want one of type DeadLettered", err)
	return dead
}
