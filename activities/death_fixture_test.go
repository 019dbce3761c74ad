package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

var (
	orderID = job.KeyID{Type: orderType, Key: "order-1001.receipt"}
	errDown = errors.New("connection refused")
)

// shelf is a store and a vault that record what they are given.
type shelf struct {
	letters []job.DeadLetter
	sealed  []*job.SealedPayload
	plain   []string
	opened  map[job.PayloadRef]string
	down    error // of every call
}

func (s *shelf) RecordFailure(_ context.Context, letter job.DeadLetter, payload *job.SealedPayload) error {
	if s.down != nil {
		return s.down
	}
	s.letters, s.sealed = append(s.letters, letter), append(s.sealed, payload)
	return nil
}

func (s *shelf) DeadLetter(_ context.Context, id job.DeadLetterID) (job.DeadLetter, error) {
	for _, letter := range s.letters {
		if letter.ID == id && s.down == nil {
			return letter, nil
		}
	}
	if s.down != nil {
		return job.DeadLetter{}, s.down
	}
	return job.DeadLetter{}, fmt.Errorf("dead letter %s: %w", id, job.ErrNotFound)
}

func (s *shelf) SaveRequest(context.Context, job.RequestRecord) error { return s.down }
func (s *shelf) SaveReplay(context.Context, job.ReplayRecord) error   { return s.down }

func (s *shelf) Open(_ context.Context, ref job.PayloadRef, _ job.KeyID) ([]byte, error) {
	if s.down != nil {
		return nil, s.down
	}
	if text, ok := s.opened[ref]; ok {
		return []byte(text), nil
	}
	return nil, fmt.Errorf("payload %s: %w", ref, job.ErrPayloadGone)
}

func (s *shelf) Seal(ref job.PayloadRef, id job.KeyID, plaintext []byte, now time.Time) (job.SealedPayload, error) {
	s.plain = append(s.plain, string(plaintext))
	return job.SealedPayload{Ref: ref, KeyID: id, CreatedAt: now, Ciphertext: []byte("sealed")}, nil
}

// morgue is DeadLetters between a shelf and a mocked Temporal.
type morgue struct {
	*activities.DeadLetters
	shelf
	temporal *mocks.Client
}

func newMorgue(t *testing.T) *morgue {
	t.Helper()
	var registry activities.Registry
	require.NoError(t, activities.Register(&registry, job.Definition{
		Type: orderType, Effects: job.EffectsNone, Owner: "team-`billing`", Runbook: "https://runbooks.example/email",
	}, failing(returning(nil))))
	m := &morgue{temporal: &mocks.Client{}}
	var err error
	m.DeadLetters, err = activities.NewDeadLetters(activities.DeadLettersOptions{
		Client: m.temporal, DataConverter: converter.GetDefaultDataConverter(), Store: &m.shelf, Vault: &m.shelf,
		Registry: &registry, Logger: zap.NewNop(), Now: func() time.Time { return start },
	})
	require.NoError(t, err)
	t.Cleanup(func() { m.temporal.AssertExpectations(t) })
	return m
}

// startedWith makes input the argument of the run that is asked about; no argument is no input.
func (m *morgue) startedWith(t *testing.T, input ...any) {
	t.Helper()
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(input...)
	require.NoError(t, err)
	events := &mocks.HistoryEventIterator{}
	events.On("HasNext").Return(true)
	events.On("Next").Return(&historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: payloads},
		},
	}, nil)
	m.temporal.On("GetWorkflowHistory", mock.Anything, orderID.JobWorkflowID(), "run-1", false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Return(events)
}

// ranOn gives the run that is asked about a completed activity for each version.
func (m *morgue) ranOn(versions ...string) {
	events := &mocks.HistoryEventIterator{}
	for _, version := range versions {
		events.On("HasNext").Return(true).Twice()
		events.On("Next").Return(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{
			ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{
				WorkerVersion: &commonpb.WorkerVersionStamp{BuildId: version}, //lint:ignore SA1019 as servers send it
			},
		}}, nil).Once()
		events.On("Next").Return(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
			ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{},
		}}, nil).Once()
	}
	events.On("HasNext").Return(false)
	m.temporal.On("GetWorkflowHistory", mock.Anything, orderID.JobWorkflowID(), "", false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Return(events)
}

func (m *morgue) polledBy(pollers ...*taskqueuepb.PollerInfo) {
	m.temporal.On("DescribeTaskQueue", mock.Anything, orderType.Lane(), enumspb.TASK_QUEUE_TYPE_ACTIVITY).
		Return(&workflowservice.DescribeTaskQueueResponse{Pollers: pollers}, nil)
}

func envelope(payload string) job.Envelope {
	return job.Envelope{Type: orderType, Key: orderID.Key, SchemaVersion: 1, Payload: json.RawMessage(payload)}
}

// notice is the death of run-1 after two attempts.
func notice(change ...func(*job.DeathNotice)) job.DeathNotice {
	n := job.DeathNotice{
		Namespace: "default", ID: orderID, WorkflowID: orderID.JobWorkflowID(), RunID: "run-1",
		StoppedAt: start.Add(time.Hour), SchemaVersion: 1,
		Class: job.ClassRejected, Cause: job.CausePoison, Message: "mailbox unknown",
		Report: job.Report{Log: logged(2), Version: build},
	}
	for _, f := range change {
		f(&n)
	}
	return n
}

// record writes the death down and returns the answer with the letter that was stored.
func (m *morgue) record(t *testing.T, n job.DeathNotice) (job.Death, job.DeadLetter) {
	t.Helper()
	death, err := m.RecordDeath(t.Context(), n)
	require.NoError(t, err)
	require.Len(t, m.letters, 1)
	require.LessOrEqual(t, len(death.Summary), 400)
	require.LessOrEqual(t, len(death.Details), 20_000)
	require.Equal(t, m.letters[0].ID, death.DeadLetterID)
	return death, m.letters[0]
}

// everything is all text that leaves for the store's readable columns or for Temporal.
func everything(t *testing.T, death job.Death, letter job.DeadLetter) string {
	t.Helper()
	text, err := json.Marshal([]any{death, letter})
	require.NoError(t, err)
	return string(text) + death.Summary + death.Details
}
