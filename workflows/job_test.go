package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

func TestJob(t *testing.T) {
	t.Parallel()
	good := job.Envelope{Type: order.Type, Key: order.Key, SchemaVersion: 1, Payload: json.RawMessage(`{"to":"a"}`)}

	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, order.JobWorkflowID())
		var got job.Assignment
		f.handler(func(a job.Assignment) (json.RawMessage, error) {
			got = a
			return json.RawMessage(`{"status":200}`), nil
		})
		f.ExecuteWorkflow(job.WorkflowJob, good)
		var result json.RawMessage
		require.NoError(t, f.GetWorkflowResult(&result))
		require.JSONEq(t, `{"status":200}`, string(result))
		require.JSONEq(t, `{"to":"a"}`, string(got.Envelope.Payload))
		require.Equal(t, 10, got.Limits.MaxAttempts)
		require.Empty(t, f.notices)
	})

	t.Run("Poison", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, order.JobWorkflowID())
		f.parkedChild(nil)
		f.handler(func(job.Assignment) (json.RawMessage, error) { return nil, poison("no such field") })
		f.ExecuteWorkflow(job.WorkflowJob, good)
		dead := decodeDead(t, f.GetWorkflowError())
		require.Equal(t, job.CausePoison, dead.Cause)
		require.Equal(t, 1, dead.Attempts)
		require.Len(t, f.notices, 1)
		require.Equal(t, "no such field", f.notices[0].Message)
		require.Equal(t, order, f.notices[0].ID)
		f.AssertWorkflowNumberOfCalls(t, job.WorkflowReplay, 1)
	})

	t.Run("AttemptsSpent", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, order.JobWorkflowID())
		f.parkedChild(nil)
		f.handler(func(job.Assignment) (json.RawMessage, error) {
			return nil, wire.Encode(&job.Failure{Class: job.ClassTransient, Final: true, Report: job.Report{Cause: job.CauseAttemptsSpent}})
		})
		f.ExecuteWorkflow(job.WorkflowJob, good)
		require.Equal(t, job.CauseAttemptsSpent, decodeDead(t, f.GetWorkflowError()).Cause)
	})

	t.Run("Canceled", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, order.JobWorkflowID())
		f.handler(func(job.Assignment) (json.RawMessage, error) {
			return nil, wire.Encode(&job.Failure{Class: job.ClassTransient, Delay: time.Hour})
		})
		f.RegisterDelayedCallback(f.CancelWorkflow, time.Minute)
		f.ExecuteWorkflow(job.WorkflowJob, good)
		require.True(t, temporal.IsCanceledError(f.GetWorkflowError()), "got %v", f.GetWorkflowError())
		require.Empty(t, f.notices)
	})

	t.Run("PastDeadline", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, order.JobWorkflowID())
		f.parkedChild(nil)
		past := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
		late := good
		late.Deadline = &past
		f.ExecuteWorkflow(job.WorkflowJob, late)
		require.Equal(t, job.CauseDeadlinePassed, decodeDead(t, f.GetWorkflowError()).Cause)
	})

	t.Run("ReplayFieldOfStrangersIgnored", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, order.JobWorkflowID())
		var got job.Assignment
		f.handler(func(a job.Assignment) (json.RawMessage, error) { got = a; return nil, nil })
		forged := good
		forged.Replay = &job.ReplayRun{DeadLetterID: "dl_forged", Number: 7}
		f.ExecuteWorkflow(job.WorkflowJob, forged)
		require.NoError(t, f.GetWorkflowError())
		require.Nil(t, got.Envelope.Replay)
	})
}

func TestJobBadInput(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		workflowID string
		input      []any
		id         job.KeyID
		says       string
	}{
		"String":      {order.JobWorkflowID(), []any{raw(`"oops s3cr3t"`)}, order, "not a JSON object"},
		"Array":       {order.JobWorkflowID(), []any{raw(`[1]`)}, order, "not a JSON object"},
		"Null":        {order.JobWorkflowID(), []any{nil}, order, "no input"},
		"Nothing":     {order.JobWorkflowID(), nil, order, "no input"},
		"Torn":        {order.JobWorkflowID(), []any{raw(`{"type":"email.send","key":"s3cr3t`)}, order, "malformed JSON"},
		"WrongType":   {order.JobWorkflowID(), []any{raw(`{"type":7}`)}, order, `field "type"`},
		"NoPayload":   {order.JobWorkflowID(), []any{raw(`{"type":"email.send","key":"order-1001.receipt"}`)}, order, "neither payload"},
		"OtherKey":    {order.JobWorkflowID(), []any{raw(`{"type":"email.send","key":"s3cr3t","payload":1}`)}, order, "do not match the workflow ID"},
		"BadWorkflow": {"my-own-id", []any{raw(`{"type":"email.send","key":"k","payload":1}`)}, job.StrayID("my-own-id"), "workflow ID"},
		"BadTypeInID": {"job:EMAIL:k", []any{raw(`{}`)}, job.StrayID("job:EMAIL:k"), "a-z 0-9"},
		"BinaryInput": {order.JobWorkflowID(), []any{[]byte{0xff, 0x00}}, order, "not a JSON object"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, c.workflowID)
			f.parkedChild(nil)
			f.ExecuteWorkflow(job.WorkflowJob, c.input...)
			dead := decodeDead(t, f.GetWorkflowError())
			require.Equal(t, job.ClassInvalidPayload, dead.Class)
			require.Len(t, f.notices, 1)
			require.Equal(t, c.id, f.notices[0].ID)
			require.Contains(t, f.notices[0].Message, c.says)
			require.NotContains(t, f.notices[0].Message, "s3cr3t")
		})
	}
}
