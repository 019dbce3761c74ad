package integration_test

import (
	"context"
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
	"github.com/redrivehq/redrive/worker"
)

func taskQueue(name string) *taskqueuepb.TaskQueue { return &taskqueuepb.TaskQueue{Name: name} }

// inBase64 returns what of text every base64 form of something that holds it has, whatever precedes it.
func inBase64(text string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for skip := range 3 {
			body := []byte(text)[skip:]
			forms = append(forms, encoding.EncodeToString(body[:len(body)/3*3]))
		}
	}
	return forms
}

// hostileSignals claim to be what a worker would decode or fetch. Any one of them, taken at its word, would stop Replay for
// good, be dropped without a word, or make the worker fetch something.
func hostileSignals(s *stack, id job.KeyID) map[string]*commonpb.Payloads {
	request := `{"actor":"mallory","reason":"r"}`
	of := func(metadata map[string]string, data string) *commonpb.Payloads {
		p := &commonpb.Payload{Metadata: map[string][]byte{}, Data: []byte(data)}
		for k, v := range metadata {
			p.Metadata[k] = []byte(v)
		}
		return &commonpb.Payloads{Payloads: []*commonpb.Payload{p}}
	}
	ours := func(keyID, binding, data string) *commonpb.Payloads {
		return of(map[string]string{"encoding": job.EncodingEncrypted, job.MetadataKeyID: keyID, job.MetadataBinding: binding}, data)
	}
	elsewhere, err := converter.WithDataConverterSerializationContext(s.client.DataConverter(),
		converter.WorkflowSerializationContext{WorkflowID: "job:note.keep:other"}).ToPayloads(map[string]string{"actor": "mallory", "reason": "r"})
	require.NoError(s.t, err)
	mine := job.PayloadBinding(id.ReplayWorkflowID())
	return map[string]*commonpb.Payloads{
		"storage reference":          of(map[string]string{"encoding": "json/protobuf", "messageType": "temporal.api.sdk.v1.ExternalStorageReference"}, `{"driverName":"s3","claimData":{"key":"x"}}`),
		"old storage reference":      of(map[string]string{"encoding": "json/external-storage-reference"}, `{"driver_name":"s3"}`),
		"foreign ciphertext":         of(map[string]string{"encoding": "binary/encrypted"}, "\x00\x01"),
		"foreign, and valid JSON":    of(map[string]string{"encoding": "binary/encrypted"}, request),
		"compressed":                 of(map[string]string{"encoding": "binary/zlib"}, request),
		"no encoding":                of(nil, request),
		"another job's":              elsewhere,
		"without a binding":          ours(s.keys.ID(), "", "\x01garbage"),
		"two arguments":              {Payloads: append(plainJSON(request).Payloads, plainJSON(request).Payloads...)},
		"garbage under our key":      ours(s.keys.ID(), mine, "\x01garbage"),
		"what Gate makes of sealed":  of(map[string]string{"encoding": "binary/redrive-sealed-signal"}, "x"),
		"what Gate makes of refused": of(map[string]string{"encoding": "binary/redrive-refused-signal", "reason": "r"}, request),
	}
}

// A hostile signal is recorded as refused and counted; Replay goes on, also after its history is read again.
func TestPrivacyHostileSignals(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	seen := newObserved()
	options := worker.Options{
		Handlers: handlers(t, "note.keep", broken), HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Vault: s.vault,
		Drain: time.Second, Observer: seen,
	}
	stop := s.start(options)
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	hostile := hostileSignals(s, letter.KeyID)
	for _, input := range hostile {
		s.rawSignal(letter.ReplayWorkflowID(), "replay", input)
	}
	s.until("all are recorded", func() bool { return len(s.letter(letter.ID).Requests) == len(hostile) })
	for _, r := range s.letter(letter.ID).Requests {
		require.False(t, r.Accepted)
		require.Equal(t, job.RefusedInvalidRequest, r.Refusal.Code)
		require.NotEqual(t, "mallory", r.Actor, r.Refusal.Detail)
		t.Log(r.Refusal.Detail)
	}
	require.GreaterOrEqual(t, seen.seen(job.PrivacyRequestRefused), len(hostile))

	stop() // a new worker has to read the whole history
	options.Handlers, options.HandlerVersion = handlers(t, "note.keep", repaired), "v2"
	s.start(options)
	require.True(t, s.ask(letter.ID, job.Request{Actor: "ada", Reason: "v2"}).Accepted)
	require.Equal(t, job.OutcomeResolved, s.outcome(letter.ID, 1).Outcome)
}

// A request that claims a key nobody has cannot be told from an honest one whose key is on its way, for a while.
func TestPrivacySignalUnderAnUnknownKeyIsRefusedInTheEnd(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	s.rawSignal(letter.ReplayWorkflowID(), "replay", underAnUnknownKey(letter.KeyID))
	require.Eventually(t, func() bool { return len(s.letter(letter.ID).Requests) == 1 }, 2*patience, 100*time.Millisecond)
	require.Contains(t, s.letter(letter.ID).Requests[0].Refusal.Detail, "could not be decrypted in time")
	require.Equal(t, job.StateDeadLettered, s.state(letter.KeyID).State)
}

// Whoever asks in plain JSON is heard, also where everything is encrypted; so is an encrypting client of any build.
func TestPrivacyPlainSignalsStillWork(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	s.rawSignal(letter.ReplayWorkflowID(), "annotate", plainJSON(`{"request_id":"raw","actor":"ada","text":"seen"}`))
	s.post("replay:note.keep:a/signal/annotate", map[string]any{"input": []any{map[string]any{"request_id": "http", "actor": "ada", "text": "seen"}}})
	require.NoError(t, s.client.SignalWorkflow(t.Context(), letter.ReplayWorkflowID(), "", "annotate",
		map[string]any{"request_id": "encrypted", "actor": "ada", "text": canary}))
	s.until("all are recorded", func() bool { return len(s.letter(letter.ID).Requests) == 3 })
	for _, r := range s.letter(letter.ID).Requests {
		require.True(t, r.Accepted, "%s: %+v", r.RequestID, r.Refusal)
	}
	hides(t, "what an encrypting client asked", s.historyJSON(letter.ReplayWorkflowID(), ""))
}

// An update that does not decode is refused to whoever sent it.
func TestPrivacyHostileUpdate(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	seen := newObserved()
	s.start(worker.Options{
		Handlers: handlers(t, "note.keep", broken), HandlerVersion: "v1", Policies: &s.policies, Store: s.store, Vault: s.vault,
		Drain: time.Second, Observer: seen,
	})
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	hostile := hostileSignals(s, letter.KeyID)
	delete(hostile, "two arguments") // an update's handler takes the first, and that is plain JSON
	for name, input := range hostile {
		answer := s.rawUpdate(letter.ReplayWorkflowID(), name, input)
		var decision job.Decision
		require.Nil(t, answer.GetOutcome().GetFailure(), name)
		data := converter.WithDataConverterSerializationContext(s.client.DataConverter(), converter.WorkflowSerializationContext{WorkflowID: letter.ReplayWorkflowID()})
		require.NoError(t, data.FromPayloads(answer.GetOutcome().GetSuccess(), &decision), name)
		require.False(t, decision.Accepted, name)
		require.Equal(t, job.RefusedInvalidRequest, decision.Refusal.Code, name)
	}
	require.GreaterOrEqual(t, seen.seen(job.PrivacyRequestRefused), len(hostile))
	unknown := s.rawUpdate(letter.ReplayWorkflowID(), "unknown key", underAnUnknownKey(letter.KeyID))
	require.NotNil(t, unknown.GetOutcome().GetFailure(), "the SDK decodes it, and tells whoever sent it that it could not")
	require.Equal(t, job.StateDeadLettered, s.state(letter.KeyID).State)
}

// rawUpdate sends an update as any language's gRPC client does.
func (s *stack) rawUpdate(workflowID, id string, input *commonpb.Payloads) *workflowservice.UpdateWorkflowExecutionResponse {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	answer, err := s.client.WorkflowService().UpdateWorkflowExecution(ctx, &workflowservice.UpdateWorkflowExecutionRequest{
		Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID},
		Request: &updatepb.Request{
			Meta: &updatepb.Meta{UpdateId: "u-" + id}, Input: &updatepb.Input{Name: "replay", Args: input},
		},
	})
	require.NoError(s.t, err, id)
	return answer
}

// underAnUnknownKey is what claims to be encrypted for a dead letter's Replay with a key that nobody has.
func underAnUnknownKey(id job.KeyID) *commonpb.Payloads {
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{{
		Metadata: map[string][]byte{
			"encoding": []byte(job.EncodingEncrypted), job.MetadataKeyID: []byte("7"),
			job.MetadataBinding: []byte(job.PayloadBinding(id.ReplayWorkflowID())),
		},
		Data: []byte("garbage"),
	}}}
}

// A client without keys changes nothing about how a process that needs them starts: not at all.
func TestPrivacyNoKeyNoStart(t *testing.T) {
	t.Parallel()
	_, err := vault.Source{File: t.TempDir() + "/none.json"}.Load()
	require.ErrorIs(t, err, vault.ErrInvalidKeyset)
	require.PanicsWithValue(t, "vault: Protect without a keyset", func() { vault.Protect(client.Options{}, nil) })
}
