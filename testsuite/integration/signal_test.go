package integration_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/job"
)

// post calls the server's own HTTP API.
func (s *stack) post(path string, body any) {
	s.t.Helper()
	if shared.HTTPAddress == "" {
		s.t.Fatal("REDRIVE_TEST_TEMPORAL names a server whose HTTP API is not known; give its base URL in REDRIVE_TEST_TEMPORAL_HTTP")
	}
	encoded, err := json.Marshal(body)
	require.NoError(s.t, err)
	target := shared.HTTPAddress + "/api/v1/namespaces/" + s.namespace + "/workflows/" + path
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, target, bytes.NewReader(encoded))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close() //nolint:errcheck // read to its end below
	answer, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, response.StatusCode, "POST %s: %s", target, answer)
}

// rawSignal sends a signal as any language's gRPC client does, with no request id.
func (s *stack) rawSignal(workflowID, name string, input *commonpb.Payloads) {
	s.t.Helper()
	_, err := s.client.WorkflowService().SignalWorkflowExecution(s.t.Context(), &workflowservice.SignalWorkflowExecutionRequest{
		Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID}, SignalName: name, Input: input,
	})
	require.NoError(s.t, err)
}

func plainJSON(text string) *commonpb.Payloads {
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(text),
	}}}
}

// Every door that DESIGN §5 names leads to the same decision.
func TestReplayThroughEveryDoor(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	stop := s.work("v1", handlers(t, "note.keep", broken))
	ask := map[string]any{"actor": "ada", "reason": "v2 is out"}
	doors := map[job.Key]func(job.KeyID){
		"http": func(id job.KeyID) {
			s.post(url.PathEscape(id.ReplayWorkflowID())+"/signal/replay", map[string]any{"input": []any{ask}})
		},
		"grpc": func(id job.KeyID) {
			s.rawSignal(id.ReplayWorkflowID(), "replay", plainJSON(`{"actor":"ada","reason":"v2 is out"}`))
		},
		"update": func(id job.KeyID) {
			handle, err := s.client.UpdateWorkflow(s.t.Context(), client.UpdateWorkflowOptions{
				WorkflowID: id.ReplayWorkflowID(), UpdateName: "replay", Args: []any{ask}, WaitForStage: client.WorkflowUpdateStageCompleted,
			})
			require.NoError(s.t, err)
			var decision job.Decision
			require.NoError(s.t, handle.Get(s.t.Context(), &decision))
			require.True(s.t, decision.Accepted, "%+v", decision.Refusal)
		},
		// As pasted from the Temporal Web UI into a shell.
		"paste": func(id job.KeyID) { s.paste(s.details(id)) },
	}
	letters := map[job.Key]job.DeadLetter{}
	for key := range doors {
		letters[key] = s.parked(s.enqueue("note.keep", key, note{"bad"}).ID)
	}
	stop()
	s.work("v2", handlers(t, "note.keep", repaired))
	for key, open := range doors {
		open(letters[key].KeyID)
	}
	for key, letter := range letters {
		record := s.outcome(letter.ID, 1)
		require.Equal(t, job.OutcomeResolved, record.Outcome, key)
		require.NotEmpty(t, record.Actor, key)
		require.NotEmpty(t, record.RequestID, key)
	}
}

// details returns what the Web UI shows of a parked dead letter.
func (s *stack) details(id job.KeyID) string {
	s.t.Helper()
	description, err := s.client.DescribeWorkflow(s.t.Context(), id.ReplayWorkflowID(), "")
	require.NoError(s.t, err)
	details, err := description.GetStaticDetails()
	require.NoError(s.t, err)
	return details
}

// paste runs the shell command in details, with a temporal on PATH that sends what it was given through the HTTP API.
func (s *stack) paste(details string) {
	s.t.Helper()
	_, rest, found := strings.Cut(details, "```sh\n")
	require.True(s.t, found, details)
	command, _, _ := strings.Cut(rest, "\n```")
	dir := s.t.TempDir()
	script := "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; done\n"
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, "temporal"), []byte(script), 0o755)) //nolint:gosec // a program
	shell := exec.CommandContext(s.t.Context(), "sh", "-c", command)
	shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "USER=grace")
	output, err := shell.Output()
	require.NoError(s.t, err)
	words := strings.Split(strings.TrimSpace(string(output)), "\n")
	require.Equal(s.t, []string{"workflow", "signal"}, words[:2])
	flags := map[string]string{}
	for i := 2; i+1 < len(words); i += 2 {
		flags[words[i]] = words[i+1]
	}
	require.Equal(s.t, s.namespace, flags["--namespace"])
	s.post(url.PathEscape(flags["--workflow-id"])+"/signal/"+flags["--name"], map[string]any{"input": []any{json.RawMessage(flags["--input"])}})
}

// A malformed request is recorded as refused, never dropped and never a crash.
func TestMalformedRequestsAreRecordedAsRefused(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", note{"bad"}).ID)
	inputs := []*commonpb.Payloads{
		nil,
		plainJSON(`"please"`),
		plainJSON(`[1,2]`),
		plainJSON(`{"actor":7,"reason":"r"}`),
		plainJSON(`{"reason":"no actor"}`),
		plainJSON(`{"actor":"ada"`),
		{Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("binary/unheard-of")}, Data: []byte{0, 1, 2}}}},
		{Payloads: []*commonpb.Payload{{Data: []byte("no metadata")}}},
	}
	for _, input := range inputs {
		s.rawSignal(letter.ReplayWorkflowID(), "replay", input)
	}
	s.until("all are recorded", func() bool { return len(s.letter(letter.ID).Requests) == len(inputs) })
	for _, r := range s.letter(letter.ID).Requests {
		require.False(t, r.Accepted)
		require.Equal(t, job.RefusedInvalidRequest, r.Refusal.Code)
		require.NotEmpty(t, r.Refusal.Detail)
	}
	require.Equal(t, job.StateDeadLettered, s.state(letter.KeyID).State, "Replay still answers")
}

// A plain JSON envelope from any language's client is a job; one that cannot be understood is a dead letter.
func TestPlainStarts(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	s.work("v1", handlers(t, "note.keep", func(_ context.Context, n note) (any, error) { return n.Text, nil }))
	start := func(workflowID string, input ...any) {
		s.post(url.PathEscape(workflowID), map[string]any{
			"workflowType": map[string]any{"name": "Job"}, "taskQueue": map[string]any{"name": "redrive"}, "input": input,
		})
	}
	start("job:note.keep:good", map[string]any{"type": "note.keep", "key": "good", "schema_version": 1, "payload": note{"hi"}})
	result, err := s.wait(job.KeyID{Type: "note.keep", Key: "good"})
	require.NoError(t, err)
	require.JSONEq(t, `"hi"`, string(result))

	start("job:note.keep:text", "hunter2-secret")
	start("job:note.keep:none")
	start("job:note.keep:other", map[string]any{"type": "note.keep", "key": "else", "payload": note{"hi"}})
	for _, key := range []job.Key{"text", "none", "other"} {
		letter := s.parked(job.KeyID{Type: "note.keep", Key: key})
		require.Equal(t, job.ClassInvalidPayload, letter.Class, key)
		require.NotContains(t, letter.Message, "hunter2", key)
	}
}
