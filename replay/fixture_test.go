package replay_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/mocks"

	"github.com/redrivehq/redrive/job"
)

const letterID = job.DeadLetterID("dl_1")

var order = job.KeyID{Type: "email.send", Key: "order-1001"}

// fakeStore holds one dead letter and the decisions on it.
type fakeStore struct {
	mu       sync.Mutex
	letter   job.DeadLetter
	requests map[string]job.RequestRecord
	err      error // what every call answers, when set
	reads    int
}

func newStore() *fakeStore {
	return &fakeStore{
		letter: job.DeadLetter{
			ID: letterID, KeyID: order,
			FailureRecord: job.FailureRecord{Class: job.ClassRejected, Cause: job.CausePoison},
		},
		requests: map[string]job.RequestRecord{},
	}
}

func requestName(kind job.RequestKind, requestID string) string {
	return string(kind) + " " + requestID
}

func (s *fakeStore) DeadLetter(_ context.Context, id job.DeadLetterID) (job.DeadLetter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.err == nil && id != s.letter.ID {
		return job.DeadLetter{}, fmt.Errorf("dead letter %s: %w", id, job.ErrNotFound)
	}
	return s.letter, s.err
}

func (s *fakeStore) Request(
	_ context.Context, id job.DeadLetterID, kind job.RequestKind, requestID string,
) (job.RequestRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	record, found := s.requests[requestName(kind, requestID)]
	if s.err == nil && (!found || id != s.letter.ID) {
		return record, fmt.Errorf("request %s: %w", requestID, job.ErrNotFound)
	}
	return record, s.err
}

func (s *fakeStore) change(f func(*fakeStore)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// sent is the one signal that a test's Temporal has taken.
type sent struct {
	workflowID, signal string
	request            job.Request
	options            client.StartWorkflowOptions
	workflow, input    any
}

// newTemporal records the signal and answers with err.
func newTemporal(t *testing.T, err error) (*mocks.Client, *sent) {
	t.Helper()
	temporal, got := &mocks.Client{}, &sent{}
	temporal.Test(t)
	temporal.On("SignalWithStartWorkflow", mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything, mock.Anything).
		Run(func(a mock.Arguments) {
			*got = sent{a.String(1), a.String(2), a.Get(3).(job.Request), a.Get(4).(client.StartWorkflowOptions), a.Get(5), a.Get(6)}
		}).Return(&mocks.WorkflowRun{}, err).Maybe()
	return temporal, got
}
