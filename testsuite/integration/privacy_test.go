package integration_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

// canary is a value that no rule of redaction knows, so that only encryption keeps it out of the history.
const canary = "quetzal-4417-canary"

// historyJSON is all that Temporal keeps of the runs of a workflow, as anybody who may read the namespace gets it, with
// what it says of the open one: pending activities and their heartbeats.
func (s *stack) historyJSON(workflowID, runID string) string {
	s.t.Helper()
	encoded, err := protojson.Marshal(&historypb.History{Events: s.history(workflowID, runID)})
	require.NoError(s.t, err)
	described, err := s.client.WorkflowService().DescribeWorkflowExecution(s.t.Context(), &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: s.namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: workflowID, RunId: runID},
	})
	require.NoError(s.t, err)
	state, err := protojson.Marshal(described)
	require.NoError(s.t, err)
	return string(encoded) + string(state)
}

// hides fails if text holds the canary, also as protojson shows bytes.
func hides(t *testing.T, where, text string) {
	t.Helper()
	require.NotEmpty(t, text, where)
	require.NotContains(t, text, canary, where)
	for _, encoded := range inBase64(canary) {
		require.NotContains(t, text, encoded, where)
	}
}

// A job's whole life leaves nothing readable in Temporal: not its payload, not what its handler said, recorded or returned.
func TestPrivacyWholeLife(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		reached, goOn := make(chan struct{}), make(chan struct{})
		stop := s.work("v1", handlers(t, "note.keep", func(ctx context.Context, n note) (any, error) {
			activity.RecordHeartbeat(ctx, n.Text)
			if activity.GetInfo(ctx).Attempt == 1 {
				return nil, errors.New("not yet, says " + n.Text)
			}
			close(reached)
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			return nil, job.Rejected(errors.New("no account for " + n.Text))
		}))
		enqueued := s.enqueue("note.keep", "a", note{canary})
		<-reached
		s.until("a heartbeat has arrived", func() bool { return s.beats.Load() > 1 })
		running := s.historyJSON(enqueued.WorkflowID, enqueued.RunID)
		require.Contains(t, running, "heartbeatDetails")
		require.Contains(t, running, "lastFailure")
		hides(t, "the running job", running)
		close(goOn)

		letter := s.parked(enqueued.ID)
		require.Equal(t, job.ClassRejected, letter.Class)
		require.Len(t, letter.Log.Entries, 2, "the log is read through the codec")
		hides(t, "the dead job", s.historyJSON(enqueued.WorkflowID, enqueued.RunID))
		hides(t, "the parked Replay", s.historyJSON(letter.ReplayWorkflowID(), ""))
		stop()

		s.work("v2", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return n, nil }))
		decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "ask about " + canary})
		require.True(t, decision.Accepted, "%+v", decision.Refusal)
		require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
		result, err := s.wait(enqueued.ID)
		require.NoError(t, err)
		require.JSONEq(t, `{"text":"`+canary+`"}`, string(result), "who may read it does")
		hides(t, "the replayed job", s.historyJSON(enqueued.WorkflowID, ""))
		s.until("Replay has ended", func() bool { return s.letter(letter.ID).State == job.StateResolved })
		hides(t, "the Replay that ended", s.historyJSON(letter.ReplayWorkflowID(), ""))
	})
}

// The search finds what is there: without encryption the same job is an open book.
func TestPrivacySearchFindsWhatIsNotEncrypted(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	plain, err := worker.Dial(t.Context(), client.Options{HostPort: shared.Address, Namespace: s.namespace, Logger: quiet{}})
	require.NoError(t, err)
	t.Cleanup(plain.Close)
	s.client, s.starter = plain, starter.New(plain, starter.Options{})
	s.work("v1", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return n, nil }))
	enqueued := s.enqueue("note.keep", "a", note{canary})
	_, err = s.wait(enqueued.ID)
	require.NoError(t, err)
	text := s.historyJSON(enqueued.WorkflowID, enqueued.RunID)
	found := strings.Contains(text, canary)
	for _, encoded := range inBase64(canary) {
		found = found || strings.Contains(text, encoded)
	}
	require.True(t, found)
}

// Keys rotate twice and an old dead letter still replays.
func TestPrivacyKeysRotatedTwice(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	stop()
	s.rekey(func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Rotate() })
	s.rekey(func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Rotate() })
	require.Len(t, s.keys.Keys(), 3)
	s.work("v2", handlers(t, "note.keep", repaired))
	require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2"}).Accepted)
	require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
	text := s.historyJSON(letter.JobWorkflowID(), "")
	require.NotEmpty(t, text)
}

// With the key that sealed it destroyed, a dead letter says so: nothing hangs, and nothing claims success.
func TestPrivacyDestroyedKey(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	stop()
	old := s.keys.ID()
	s.rekey(func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Rotate() })
	s.rekey(func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Destroy(old) })
	s.work("v2", handlers(t, "note.keep", repaired))

	decision := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2"})
	require.True(t, decision.Accepted, "%+v", decision.Refusal)
	require.Equal(t, job.OutcomeFailedAgain, s.outcome(letter.ID, 1).Outcome)
	after := s.letter(letter.ID)
	require.Equal(t, job.ClassPayloadUnavailable, after.Class)
	require.Equal(t, job.CausePayloadUnavailable, after.Cause)

	s.until("the wait is over", func() bool { return time.Now().After(*s.letter(letter.ID).NotBefore) })
	again := s.ask(letter.ID, job.Request{Actor: "ada", Reason: "once more"})
	require.False(t, again.Accepted)
	require.Equal(t, job.RefusedPayloadUnavailable, again.Refusal.Code)
}

// rekey changes the stack's keyset, as an operator does who rotates and restarts everything.
func (s *stack) rekey(change func(*vault.Keyset) (*vault.Keyset, error)) {
	s.t.Helper()
	keys, err := change(s.keys)
	require.NoError(s.t, err)
	s.keys, s.vault, s.client = keys, vault.New(keys, s.store), s.dial(keys)
	s.starter = starter.New(s.client, starter.Options{Vault: s.vault})
	s.replay = replay.New(s.client, s.store)
}

// A rotation reaches some processes before others. What the others cannot read yet waits for them, and loses nothing.
func TestPrivacyRotationThatReachesAWorkerLate(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", repaired))
	s.rekey(func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Rotate() })
	enqueued := s.enqueue("note.keep", "a", note{"hello"})
	s.until("the old worker cannot read it", func() bool {
		d, err := s.client.DescribeWorkflow(t.Context(), enqueued.WorkflowID, "")
		require.NoError(t, err)
		return d.RawResponse.GetPendingWorkflowTask().GetAttempt() > 1
	})
	stop()
	s.work("v1", handlers(t, "note.keep", repaired))
	result, err := s.wait(enqueued.ID)
	require.NoError(t, err)
	require.JSONEq(t, `"repaired"`, string(result))
}

// A payload that somebody copied from another job's history opens nowhere else.
func TestPrivacyCopiedPayload(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	seen := newObserved()
	s.start(worker.Options{
		Handlers: handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return n, nil }), HandlerVersion: "v1",
		Policies: &s.policies, Store: s.store, Vault: s.vault, Drain: time.Second, Observer: seen,
	})
	victim := s.enqueue("note.keep", "victim", note{canary})
	_, err := s.wait(victim.ID)
	require.NoError(t, err)
	stolen := s.history(victim.WorkflowID, victim.RunID)[0].GetWorkflowExecutionStartedEventAttributes().GetInput()
	forged := &commonpb.Payloads{Payloads: []*commonpb.Payload{{
		Metadata: map[string][]byte{
			converter.MetadataEncoding: []byte(job.EncodingEncrypted), job.MetadataKeyID: []byte(s.keys.ID()),
			job.MetadataBinding: []byte("job:note.keep:forged"),
		},
		Data: stolen.GetPayloads()[0].GetData(),
	}}}
	for key, input := range map[job.Key]*commonpb.Payloads{"thief": stolen, "forged": forged} {
		id := job.KeyID{Type: "note.keep", Key: key}
		s.rawStart(id, input)
		letter := s.parked(id)
		require.Equal(t, job.ClassInvalidPayload, letter.Class, key)
		require.Contains(t, letter.Message, "does not open for this job: forged", key)
		require.Empty(t, letter.PayloadRef, key)
		require.Empty(t, letter.RedactedPayload, key)
	}
	require.GreaterOrEqual(t, seen.seen(job.PrivacyInputRefused), 2)
}

// rawStart starts a job as any language's gRPC client does.
func (s *stack) rawStart(id job.KeyID, input *commonpb.Payloads) {
	s.t.Helper()
	_, err := s.client.WorkflowService().StartWorkflowExecution(s.t.Context(), &workflowservice.StartWorkflowExecutionRequest{
		Namespace: s.namespace, WorkflowId: id.JobWorkflowID(), RequestId: id.String(),
		WorkflowType: &commonpb.WorkflowType{Name: job.WorkflowJob},
		TaskQueue:    taskQueue(job.QueueWorkflows), Input: input,
	})
	require.NoError(s.t, err)
}

// A start in plain text is refused before its handler runs, or allowed by the type's policy, and counted either way.
func TestPrivacyPlainStart(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	strict, open := quick(), quick()
	strict.PlainStart = "" // the default
	s.policies.ByType = map[job.Type]job.Policy{"note.strict": strict, "note.open": open}
	h := handlers(t, "note.strict", repaired)
	require.NoError(t, worker.Register(h, job.Definition{Type: "note.open", Effects: job.EffectsNone, Owner: "tests"}, repaired))
	seen := newObserved()
	s.start(worker.Options{
		Handlers: h, HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Vault: s.vault, Drain: time.Second, Observer: seen,
	})
	plainStart := func(t job.Type, mark string) job.KeyID {
		id := job.KeyID{Type: t, Key: job.Key("a" + mark)}
		input := plainJSON(`{"type":"` + string(id.Type) + `","key":"` + string(id.Key) + `","payload":{"text":"hello"}}`)
		if mark != "" {
			input.Payloads[0].Metadata[mark] = []byte("1")
		}
		s.rawStart(id, input)
		return id
	}
	_, err := s.wait(plainStart("note.open", ""))
	require.NoError(t, err)
	require.Equal(t, 1, seen.seen(job.PrivacyPlainStartAllowed))
	for _, mark := range []string{"", job.MetadataDecrypted} { // who says that it was encrypted is not believed
		letter := s.parked(plainStart("note.strict", mark))
		require.Equal(t, job.ClassInvalidPayload, letter.Class)
		require.Equal(t, job.CausePoison, letter.Cause)
		require.Contains(t, letter.Message, "plain_start: refuse")
		require.Zero(t, letter.Log.Counted, "the handler did not run")
		require.NotEmpty(t, letter.PayloadRef, "a replay by an operator may run it")
	}
	require.Equal(t, 2, seen.seen(job.PrivacyPlainStartRefused))
	_, err = s.wait(s.enqueue("note.strict", "encrypted", note{"hello"}).ID)
	require.NoError(t, err)
}

// A worker that was not given the new key yet cannot read the attempt log of one that was. It hands the attempt on without
// wiping the log, and the workflow's worker waits for the failure it cannot read.
func TestPrivacyRotationInTheMiddleOfAJob(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	policy := quick()
	policy.Backoff = job.Backoff{Base: 2 * time.Second, Cap: 2 * time.Second}
	s.policies.ByType = map[job.Type]job.Policy{"note.keep": policy}
	before, beforeVault := s.client, s.vault
	stopOld := s.work("v1", nil)
	enqueued := s.enqueue("note.keep", "a", note{"hello"})
	s.rekey(func(keys *vault.Keyset) (*vault.Keyset, error) { return keys.Rotate() })

	failed := make(chan struct{}, policy.MaxAttempts)
	failing := handlers(t, "note.keep", func(context.Context, note) (any, error) {
		failed <- struct{}{}
		return nil, job.DependencyDown(errors.New("connection refused"))
	})
	stopNew := s.lane("v1", failing)
	<-failed
	stopNew()

	after, afterVault := s.client, s.vault
	s.client, s.vault = before, beforeVault
	stopOldLane := s.lane("v1", handlers(t, "note.keep", func(context.Context, note) (any, error) {
		return nil, errors.New("this worker cannot know what happened before")
	}))
	s.until("the old worker has had its turn", func() bool {
		d, err := s.client.DescribeWorkflow(t.Context(), enqueued.WorkflowID, "")
		require.NoError(t, err)
		pending := d.RawResponse.GetPendingActivities()
		return len(pending) == 1 && pending[0].GetAttempt() > 2
	})
	stopOldLane()
	s.client, s.vault = after, afterVault
	s.lane("v1", failing)
	s.until("the last attempt has failed", func() bool { return len(failed) == policy.MaxAttempts-1 })
	stopOld()
	s.work("v1", nil)
	letter := s.parked(enqueued.ID)
	require.Equal(t, job.CauseAttemptsSpent, letter.Cause)
	require.Equal(t, policy.MaxAttempts, letter.Log.Counted)
	require.Len(t, letter.Log.Entries, policy.MaxAttempts)
}

// A start that would make the SDK fetch something, or that no codec of ours made, is a dead letter like any other bad input.
func TestPrivacyHostileStarts(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", repaired))
	for name, input := range hostileSignals(s, job.KeyID{Type: "note.keep", Key: "x"}) {
		if string(input.GetPayloads()[0].GetMetadata()["encoding"]) == converter.MetadataEncodingJSON {
			continue
		}
		id := job.KeyID{Type: "note.keep", Key: job.Key("h-" + strings.ReplaceAll(name, " ", "-"))}
		s.rawStart(id, input)
		require.Equal(t, job.ClassInvalidPayload, s.parked(id).Class, name)
	}
}
