package integration_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/redrivehq/redrive/job"
)

// The parked job can be read in the Temporal Web UI's data: why, the redacted record, and the command to type.
func TestParkedJobIsReadable(t *testing.T) {
	t.Parallel()
	s := newStack(t, openSQLite)
	type login struct {
		Text     string `json:"text"`
		Password string `json:"password"`
	}
	s.work("v1", handlers(t, "note.keep", broken))
	letter := s.parked(s.enqueue("note.keep", "a", login{"bad", "hunter2-secret"}).ID)

	description, err := s.client.DescribeWorkflow(t.Context(), letter.ReplayWorkflowID(), "")
	require.NoError(t, err)
	summary, err := description.GetStaticSummary()
	require.NoError(t, err)
	require.Contains(t, summary, "invalid_payload (poison)")
	details := s.details(letter.KeyID)
	require.Contains(t, details, string(letter.ID))
	require.Contains(t, details, "text is bad")
	require.Contains(t, details, `"password"`)
	require.NotContains(t, details, "hunter2")
	require.Contains(t, details, job.ReplayCommand(s.namespace, letter.KeyID))

	attributes := description.RawResponse.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	require.Equal(t, `"dead_lettered"`, string(attributes[job.AttrJobState].GetData()))
	require.Equal(t, `"invalid_payload"`, string(attributes[job.AttrErrorClass].GetData()))
	require.Equal(t, `"note.keep"`, string(attributes[job.AttrJobType].GetData()))
	require.Equal(t, `1`, string(attributes[job.AttrAttempts].GetData()))
	s.until("visibility finds it", func() bool {
		found, err := s.client.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: s.namespace, Query: "JobState = 'dead_lettered' AND JobErrorClass = 'invalid_payload' AND WorkflowType = 'Replay'",
		})
		return err == nil && found.GetCount() == 1
	})
}

// Promise 3, as far as this slice goes: a secret in the payload, echoed by the handler, stays out of the record and of
// every event that lasts, but for the inputs that the job was started with.
func TestNoSecretInWhatTheFailureLeavesBehind(t *testing.T) {
	onBothStores(t, func(t *testing.T, s *stack) {
		const canary = "cnry-7f3a9b2e-QxZ"
		type login struct {
			Text     string `json:"text"`
			Password string `json:"password"`
		}
		s.work("v1", handlers(t, "note.keep", echoing))
		for _, how := range []string{"error", "panic", "heartbeat"} {
			letter := s.parked(s.enqueue("note.keep", job.Key(how), login{how, canary}).ID)
			record, err := json.Marshal(letter)
			require.NoError(t, err)
			require.NotContains(t, string(record), canary, how)
			require.Contains(t, letter.Message, "[redacted", how)
			for _, workflowID := range []string{letter.JobWorkflowID(), letter.ReplayWorkflowID()} {
				for i, event := range s.history(workflowID, "") {
					if event.GetWorkflowExecutionStartedEventAttributes() != nil || event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "note.keep" {
						continue
					}
					require.NotContains(t, event.String(), canary, "event %d of %s", i+1, workflowID)
				}
			}
			opened, err := s.vault.Open(t.Context(), letter.PayloadRef, letter.KeyID)
			require.NoError(t, err)
			require.Contains(t, string(opened), canary, "the vault keeps the payload")
		}
	})
}
