package starter_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// endedTemporal is one whose every workflow has ended with result or err.
type endedTemporal struct {
	client.Client
	result json.RawMessage
	err    error
}

func (e endedTemporal) GetWorkflow(_ context.Context, workflowID, runID string) client.WorkflowRun {
	if workflowID != order.JobWorkflowID() || runID != "" { // the latest run: a replay may have followed
		return endedRun{err: errors.New("asked for " + workflowID + " " + runID)}
	}
	return endedRun{result: e.result, err: e.err}
}

type endedRun struct {
	client.WorkflowRun
	result json.RawMessage
	err    error
}

func (r endedRun) Get(_ context.Context, into any) error {
	*into.(*json.RawMessage) = r.result
	return r.err
}

func TestWait(t *testing.T) {
	t.Parallel()
	wait := func(t *testing.T, e endedTemporal) (json.RawMessage, error) {
		t.Helper()
		return starter.New(e, starter.Options{}).Wait(t.Context(), order)
	}
	t.Run("Completed", func(t *testing.T) {
		t.Parallel()
		result, err := wait(t, endedTemporal{result: []byte(`{"id":7}`)})
		require.NoError(t, err)
		require.JSONEq(t, `{"id":7}`, string(result))
	})
	t.Run("DeadLettered", func(t *testing.T) {
		t.Parallel()
		dead := job.DeadLettered{DeadLetterID: "dl_1", Class: job.ClassRejected, Cause: job.CausePoison, Attempts: 1}
		converted := temporal.GetDefaultFailureConverter()
		_, err := wait(t, endedTemporal{err: converted.FailureToError(converted.ErrorToFailure(wire.EncodeDeadLettered(dead)))})
		var stopped *starter.DeadLetteredError
		require.ErrorAs(t, err, &stopped)
		require.Equal(t, &starter.DeadLetteredError{ID: order, DeadLettered: dead}, stopped)
		require.EqualError(t, err, "job email.send:order-1001 was dead-lettered as dl_1: poison, rejected after 1 counted attempts")
	})
	t.Run("Canceled", func(t *testing.T) {
		t.Parallel()
		_, err := wait(t, endedTemporal{err: temporal.NewCanceledError()})
		require.ErrorIs(t, err, starter.ErrCanceled)
	})
	t.Run("UnknownKey", func(t *testing.T) {
		t.Parallel()
		_, err := wait(t, endedTemporal{err: serviceerror.NewNotFound("no such workflow")})
		require.ErrorIs(t, err, job.ErrNotFound)
	})
	t.Run("TheContextEnded", func(t *testing.T) {
		t.Parallel()
		_, err := wait(t, endedTemporal{err: context.DeadlineExceeded})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "wait for email.send:order-1001")
	})
}
