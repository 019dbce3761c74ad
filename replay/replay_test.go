package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
)

func TestSend(t *testing.T) {
	t.Parallel()
	ask := job.Request{RequestID: "r-1", Actor: "ada", Reason: "handler repaired"}
	t.Run("SignalsWithStart", func(t *testing.T) {
		t.Parallel()
		temporal, got := newTemporal(t, nil)
		id, err := replay.New(temporal, newStore()).Send(t.Context(), letterID, job.RequestReplay, ask)
		require.NoError(t, err)
		require.Equal(t, "r-1", id)
		require.Equal(t, "replay:email.send:order-1001", got.workflowID)
		require.Equal(t, "replay", got.signal)
		require.Equal(t, ask, got.request)
		require.Equal(t, job.WorkflowReplay, got.workflow)
		require.Equal(t, job.ReplayInput{DeadLetterID: letterID, ID: order}, got.input)
		require.Equal(t, job.QueueWorkflows, got.options.TaskQueue)
		require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, got.options.WorkflowIDReusePolicy, "a lost Replay is healed")
	})
	t.Run("NamesARequestWithoutID", func(t *testing.T) {
		t.Parallel()
		temporal, got := newTemporal(t, nil)
		unnamed := ask
		unnamed.RequestID = ""
		c := replay.New(temporal, newStore())
		one, err := c.Send(t.Context(), letterID, job.RequestReplay, unnamed)
		require.NoError(t, err)
		require.Regexp(t, `^req-[0-9a-f]{24}$`, one)
		require.Equal(t, one, got.request.RequestID)
		other, err := c.Send(t.Context(), letterID, job.RequestReplay, unnamed)
		require.NoError(t, err)
		require.NotEqual(t, one, other)
	})
	t.Run("TemporalDown", func(t *testing.T) {
		t.Parallel()
		down := errors.New("connection refused")
		temporal, _ := newTemporal(t, down)
		id, err := replay.New(temporal, newStore()).Send(t.Context(), letterID, job.RequestReplay, ask)
		require.ErrorIs(t, err, down)
		require.ErrorContains(t, err, "replay dl_1: ")
		require.NotErrorIs(t, err, replay.ErrInvalidRequest)
		require.Equal(t, "r-1", id, "the same id may be sent again")
	})
}

func TestSendRefuses(t *testing.T) {
	t.Parallel()
	down := errors.New("the store is down")
	for name, c := range map[string]struct {
		letter  job.DeadLetterID
		kind    job.RequestKind
		request job.Request
		store   error
		want    error
		says    string
	}{
		"NoActor":       {letterID, job.RequestReplay, job.Request{Reason: "r"}, nil, replay.ErrInvalidRequest, `replay needs "actor"`},
		"NoReason":      {letterID, job.RequestDiscard, job.Request{Actor: "ada"}, nil, replay.ErrInvalidRequest, `discard needs "reason"`},
		"NoText":        {letterID, job.RequestAnnotate, job.Request{Actor: "ada", Reason: "r"}, nil, replay.ErrInvalidRequest, `annotate needs "text"`},
		"LongReason":    {letterID, job.RequestReplay, job.Request{Actor: "ada", Reason: strings.Repeat("r", 2049)}, nil, replay.ErrInvalidRequest, "2049 bytes"},
		"UnknownKind":   {letterID, "failed", job.Request{Actor: "ada", Reason: "r"}, nil, replay.ErrInvalidRequest, `request kind "failed"`},
		"UnknownLetter": {"dl_2", job.RequestReplay, job.Request{Actor: "ada", Reason: "r"}, nil, job.ErrNotFound, "dl_2"},
		"StoreDown":     {letterID, job.RequestReplay, job.Request{Actor: "ada", Reason: "r"}, down, down, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore()
			store.err = c.store
			temporal, _ := newTemporal(t, nil)
			_, err := replay.New(temporal, store).Send(t.Context(), c.letter, c.kind, c.request)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
			require.Empty(t, temporal.Calls, "nothing was sent")
		})
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	refusal := &job.Refusal{Code: job.RefusedTooEarly, Detail: "not before noon"}
	record := job.RequestRecord{DeadLetterID: letterID, Kind: job.RequestReplay, RequestID: "r-1", Refusal: refusal}
	t.Run("ReturnsTheDecisionOnceItIsRecorded", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			store := newStore()
			store.requests[requestName(job.RequestDiscard, "r-1")] = job.RequestRecord{RequestID: "r-1", Accepted: true} // of another kind
			time.AfterFunc(3*time.Second, func() {
				store.change(func(s *fakeStore) { s.requests[requestName(job.RequestReplay, "r-1")] = record })
			})
			began := time.Now()
			decision, err := replay.New(nil, store).Await(t.Context(), letterID, job.RequestReplay, "r-1")
			require.NoError(t, err)
			require.Equal(t, job.Decision{Kind: job.RequestReplay, RequestID: "r-1", DeadLetterID: letterID, Refusal: refusal}, decision)
			require.InDelta(t, 3, time.Since(began).Seconds(), 0.3)
		})
	})
	t.Run("EndsWithTheContext", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			store := newStore()
			_, err := replay.New(nil, store).Await(ctx, letterID, job.RequestReplay, "r-1")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "await the decision on r-1: ")
			require.LessOrEqual(t, store.reads, 6, "polled, not spun")
		})
	})
	t.Run("StoreDown", func(t *testing.T) {
		t.Parallel()
		store := newStore()
		store.err = errors.New("the store is down")
		_, err := replay.New(nil, store).Await(t.Context(), letterID, job.RequestReplay, "r-1")
		require.ErrorIs(t, err, store.err)
	})
}

func TestAwaitOutcome(t *testing.T) {
	t.Parallel()
	t.Run("ReturnsTheReplayThatEnded", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			store, ended := newStore(), time.Now()
			store.letter.History = []job.ReplayRecord{{Number: 1, FinishedAt: &ended, Outcome: job.OutcomeFailedAgain}, {Number: 2}}
			time.AfterFunc(time.Second, func() {
				store.change(func(s *fakeStore) {
					s.letter.History = []job.ReplayRecord{s.letter.History[0], {Number: 2, FinishedAt: &ended, Outcome: job.OutcomeResolved}}
				})
			})
			record, err := replay.New(nil, store).AwaitOutcome(t.Context(), letterID, 2)
			require.NoError(t, err)
			require.Equal(t, job.OutcomeResolved, record.Outcome)
			require.Equal(t, 2, record.Number)
		})
	})
	t.Run("UnknownLetter", func(t *testing.T) {
		t.Parallel()
		_, err := replay.New(nil, newStore()).AwaitOutcome(t.Context(), "dl_2", 1)
		require.ErrorIs(t, err, job.ErrNotFound)
		require.ErrorContains(t, err, "replay 1 of dl_2")
	})
	t.Run("EndsWithTheContext", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := replay.New(nil, newStore()).AwaitOutcome(ctx, letterID, 1)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
}
