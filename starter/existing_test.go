package starter_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

const (
	running   = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	completed = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	failed    = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	canceled  = enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
)

func TestStart(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Hour).Round(0)
	t.Run("Started", func(t *testing.T) {
		t.Parallel()
		f := &fakeTemporal{pollers: 1}
		enqueued, err := starter.Enqueue(t.Context(), starter.New(f, starter.Options{}), order.Type, order.Key, map[string]int{"n": 1},
			starter.EnqueueOptions{SchemaVersion: 2, Delay: time.Minute, Deadline: deadline, Priority: 1, Subject: "p-7", Tags: []string{"eu"}})
		require.NoError(t, err)
		require.Equal(t, starter.Enqueued{
			ID: order, WorkflowID: "job:email.send:order-1001", RunID: "run-new", State: job.StateRunning,
		}, enqueued)
		utc := deadline.UTC()
		require.Equal(t, []job.Envelope{{
			Type: order.Type, Key: order.Key, SchemaVersion: 2, Payload: json.RawMessage(`{"n":1}`), Subject: "p-7", Tags: []string{"eu"}, Deadline: &utc,
		}}, f.envelopes)
		o := f.started[0]
		require.Equal(t, "job:email.send:order-1001", o.ID)
		require.Equal(t, job.QueueWorkflows, o.TaskQueue)
		require.Equal(t, time.Minute, o.StartDelay)
		require.Equal(t, temporal.Priority{PriorityKey: 1, FairnessKey: "email.send"}, o.Priority)
		require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, o.WorkflowIDReusePolicy)
		require.Zero(t, o.WorkflowExecutionTimeout, "a timeout of the server's would run no code of ours")
		require.Zero(t, o.WorkflowRunTimeout)
	})
	t.Run("ACallersReplayFieldIsDropped", func(t *testing.T) {
		t.Parallel()
		f := &fakeTemporal{pollers: 1}
		_, err := starter.New(f, starter.Options{}).Start(t.Context(), job.Envelope{
			Type: order.Type, Key: order.Key, Payload: []byte(`1`), Replay: &job.ReplayRun{Number: 1},
		}, starter.EnqueueOptions{})
		require.NoError(t, err)
		require.Nil(t, f.envelopes[0].Replay)
		require.Equal(t, 1, f.envelopes[0].SchemaVersion)
	})
	t.Run("UnpolledLaneIsSaid", func(t *testing.T) {
		t.Parallel()
		f := &fakeTemporal{}
		enqueued, err := starter.Enqueue(t.Context(), starter.New(f, starter.Options{}), order.Type, order.Key, 1, starter.EnqueueOptions{})
		require.NoError(t, err)
		require.Contains(t, enqueued.Warning, "no worker polls redrive.email.send")
	})
	t.Run("PolledLaneIsAskedOnce", func(t *testing.T) {
		t.Parallel()
		f := &fakeTemporal{pollers: 1}
		c := starter.New(f, starter.Options{})
		for range 10 {
			_, err := starter.Enqueue(t.Context(), c, order.Type, order.Key, 1, starter.EnqueueOptions{})
			require.NoError(t, err)
		}
		require.Equal(t, 1, f.described)
	})
	t.Run("LaneThatCannotBeDescribedFailsNothing", func(t *testing.T) {
		t.Parallel()
		f := &fakeTemporal{err: errors.New("unavailable")}
		enqueued, err := starter.Enqueue(t.Context(), starter.New(f, starter.Options{}), order.Type, order.Key, 1, starter.EnqueueOptions{})
		require.NoError(t, err)
		require.Empty(t, enqueued.Warning)
	})
}

func TestSameKeyAgain(t *testing.T) {
	t.Parallel()
	envelope := func(rest string) string { return `{"type":"email.send","key":"order-1001",` + rest + `}` }
	for name, c := range map[string]struct {
		known, payload string // what the run was started with, what is enqueued now
		same           bool
	}{
		"SameBytes":          {envelope(`"payload":{"a":1,"b":[1,2]}`), `{"a":1,"b":[1,2]}`, true},
		"OtherOrderOfKeys":   {envelope(`"payload":{"b":1,"a":{"d":1,"c":2}}`), `{"a":{"c":2,"d":1},"b":1}`, true},
		"OtherWhiteSpace":    {envelope(`"payload": { "a" : [ 1 ,2 ] }`), `{"a":[1,2]}`, true},
		"OtherEscapes":       {envelope(`"payload":"\u00e9\u003c\/"`), `"é</"`, true},
		"BigNumbers":         {envelope(`"payload":12345678901234567891`), `12345678901234567890`, false},
		"OtherSpelling":      {envelope(`"payload":1.0`), `1`, false},
		"OtherOrderOfList":   {envelope(`"payload":[1,2]`), `[2,1]`, false},
		"OtherType":          {envelope(`"payload":"1"`), `1`, false},
		"NullIsNotAbsent":    {envelope(`"payload":{"a":null}`), `{}`, false},
		"OtherSchemaVersion": {envelope(`"payload":1,"schema_version":2`), `1`, false},
		"AReference":         {envelope(`"payload_ref":"pl_1"`), `1`, false},
		"NotAnEnvelope":      {`"` + secret + `"`, `1`, false},
		"OtherTags":          {envelope(`"payload":1,"tags":["eu"]`), `1`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeTemporal{
				taken: "run-1", inputs: map[string]string{"run-1": c.known},
				runs: map[string]run{order.JobWorkflowID(): {status: completed}},
			}
			found, err := starter.New(f, starter.Options{}).Start(t.Context(),
				job.Envelope{Type: order.Type, Key: order.Key, Payload: []byte(c.payload)}, starter.EnqueueOptions{})
			want := starter.Enqueued{ID: order, WorkflowID: order.JobWorkflowID(), RunID: "run-1", Duplicate: true, State: job.StateCompleted}
			require.Equal(t, want, found)
			if c.same {
				require.NoError(t, err)
				return
			}
			var conflict *starter.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, want, conflict.Existing)
			require.ErrorContains(t, err, "email.send:order-1001 exists (completed)")
			require.NotContains(t, err.Error(), secret)
		})
	}
	start := func(t *testing.T, f *fakeTemporal) error {
		t.Helper()
		f.taken = "run-2"
		f.runs = map[string]run{order.JobWorkflowID(): {status: completed, parent: order.ReplayWorkflowID()}}
		_, err := starter.New(f, starter.Options{}).Start(t.Context(),
			job.Envelope{Type: order.Type, Key: order.Key, Payload: []byte(`1`)}, starter.EnqueueOptions{})
		return err
	}
	replayed := envelope(`"payload_ref":"pl_1","replay":{"number":1,"original_run_id":"run-1"}`)
	t.Run("AReplayIsComparedWithItsOriginal", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, start(t, &fakeTemporal{inputs: map[string]string{"run-2": replayed, "run-1": envelope(`"payload":1`)}}))
		var conflict *starter.ConflictError
		require.ErrorAs(t, start(t, &fakeTemporal{inputs: map[string]string{"run-2": replayed, "run-1": envelope(`"payload":2`)}}), &conflict)
		require.Equal(t, job.StateResolved, conflict.Existing.State)
	})
	t.Run("AHistoryThatIsGoneContradictsNothing", func(t *testing.T) {
		t.Parallel()
		require.NoError(t, start(t, &fakeTemporal{inputs: map[string]string{"run-2": replayed}}))
	})
	t.Run("AHistoryThatCannotBeReadIsAnError", func(t *testing.T) {
		t.Parallel()
		down := errors.New("unavailable")
		require.ErrorIs(t, start(t, &fakeTemporal{err: down}), down)
	})
	t.Run("ReplaysThatNameEachOtherEnd", func(t *testing.T) {
		t.Parallel()
		loop := envelope(`"payload_ref":"pl_1","replay":{"number":1,"original_run_id":"run-2"}`)
		require.NoError(t, start(t, &fakeTemporal{inputs: map[string]string{"run-2": loop}}))
	})
}
