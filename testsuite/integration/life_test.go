package integration_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdkconverter "go.temporal.io/sdk/converter"

	commonpb "go.temporal.io/api/common/v1"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// blocking returns a handler that says when it runs and works until it is released or told to stop.
func blocking(started chan<- struct{}, release <-chan struct{}) job.Handler[note] {
	return func(ctx context.Context, _ note) (any, error) {
		started <- struct{}{}
		select {
		case <-release:
			return "done", nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func TestCanceledByAPerson(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	started := make(chan struct{}, 1)
	s.work("v1", handlers(t, "note.keep", blocking(started, nil)))
	enqueued := s.enqueue("note.keep", "a", note{"hello"})
	<-started
	require.NoError(t, s.starter.Cancel(t.Context(), enqueued.ID))
	_, err := s.wait(enqueued.ID)
	require.ErrorIs(t, err, starter.ErrCanceled)
	state, err := s.starter.State(t.Context(), enqueued.ID)
	require.NoError(t, err)
	require.Equal(t, job.StateCanceled, state)
	_, err = s.store.DeadLetter(t.Context(), job.NewDeadLetterID(s.namespace, enqueued.ID))
	require.ErrorIs(t, err, job.ErrNotFound, "a canceled job is no dead letter")
	require.ErrorIs(t, s.starter.Cancel(t.Context(), enqueued.ID), starter.ErrNotRunning)
}

// A replay that is canceled parks its dead letter again.
func TestCanceledReplayParksAgain(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	stop()
	started := make(chan struct{}, 1)
	s.work("v2", handlers(t, "note.keep", blocking(started, nil)))
	require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "go"}).Accepted)
	<-started
	require.NoError(t, s.starter.Cancel(t.Context(), letter.KeyID))
	require.Equal(t, job.OutcomeCanceled, s.outcome(letter.ID, 1).Outcome)
	require.Equal(t, job.StateDeadLettered, s.letter(letter.ID).State)
	s.until("Temporal's record follows the store's", func() bool {
		state, err := s.starter.State(t.Context(), letter.KeyID)
		require.NoError(t, err)
		return state == job.StateDeadLettered
	})
}

func TestDelayAndDeadline(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) { return time.Now().UTC(), nil }))
	began := time.Now()
	delayed, err := starter.Enqueue(t.Context(), s.starter, "note.keep", "later", note{}, starter.EnqueueOptions{Delay: 2 * time.Second, Priority: 1})
	require.NoError(t, err)
	_, err = s.wait(delayed.ID)
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 2*time.Second)

	// Nobody polls this type: the deadline ends the job, and the record says whose fault it is not.
	_, err = starter.Enqueue(t.Context(), s.starter, "note.unheard", "a", note{}, starter.EnqueueOptions{Deadline: time.Now().Add(2 * time.Second)})
	require.NoError(t, err)
	letter := s.parked(job.KeyID{Type: "note.unheard", Key: "a"})
	require.Equal(t, job.CauseDeadlinePassed, letter.Cause)
	require.Equal(t, job.ClassUnknownJobType, letter.Class)
	require.Zero(t, letter.Log.Counted)
}

// outOfOrder is a codec whose key service can be down.
type outOfOrder struct{ down atomic.Bool }

var errKeyService = errors.New("key service is down")

func (o *outOfOrder) Encode(p []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if o.down.Load() {
		return nil, errKeyService
	}
	return p, nil
}

func (o *outOfOrder) Decode(p []*commonpb.Payload) ([]*commonpb.Payload, error) { return o.Encode(p) }

// A codec that fails fails the task, not the workflow: the job waits for the key service and completes.
func TestPrivacyKeyServiceDownFailsTheTaskOnly(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	codec := &outOfOrder{}
	dialed, err := worker.Dial(t.Context(), client.Options{
		HostPort: shared.Address, Namespace: s.namespace, Logger: quiet{},
		DataConverter: vault.DataConverter(sdkconverter.GetDefaultDataConverter(), codec, vault.NewCodec(s.keys)),
	})
	require.NoError(t, err)
	t.Cleanup(dialed.Close)
	plain := s.client
	s.client = dialed
	s.work("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) { return "ok", nil }))
	codec.down.Store(true)
	enqueued, err := starter.Enqueue(t.Context(), s.starter, "note.keep", "a", note{"hello"}, starter.EnqueueOptions{})
	require.NoError(t, err)
	s.until("the task has failed and is tried again", func() bool {
		d, err := plain.DescribeWorkflow(t.Context(), enqueued.WorkflowID, "")
		require.NoError(t, err)
		return d.RawResponse.GetPendingWorkflowTask().GetAttempt() > 1
	})
	codec.down.Store(false)
	result, err := s.wait(enqueued.ID)
	require.NoError(t, err)
	require.JSONEq(t, `"ok"`, string(result))
}

// What cannot become a job is refused before anything is started.
func TestRefusedBeforeAnythingIsStarted(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	_, err := starter.Enqueue(t.Context(), starter.New(s.client, starter.Options{}), "note.keep", "big", note{longText()}, starter.EnqueueOptions{})
	require.ErrorIs(t, err, job.ErrInvalidEnvelope)
	require.ErrorContains(t, err, "at most")
	_, err = s.starter.State(t.Context(), job.KeyID{Type: "note.keep", Key: "big"})
	require.ErrorIs(t, err, job.ErrNotFound)
}
