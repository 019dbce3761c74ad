package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// Anybody with write access to the namespace can send the signal that a job sends to its open Replay. One that cannot
// be read must not block the loop: the operator's next request would wait behind it for ever.
func TestMalformedFailureSignalBlocksNobody(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]any{
		"Text": "garbage", "List": []int{1}, "WrongField": map[string]any{"attempts": "many"}, "OtherLetter": map[string]any{"dead_letter_id": "dl_2"},
		"NotJSON": raw("{"), "Null": raw("null"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newReplay(t)
			f.handler(func(job.Assignment) (json.RawMessage, error) { return nil, nil })
			f.at(time.Second, job.SignalFailed, signal)
			f.at(2*time.Second, string(job.RequestReplay), map[string]any{"actor": "ada", "reason": "fixed"})
			f.runReplay()
			require.NoError(t, f.GetWorkflowError())
			require.Len(t, f.requests, 1)
			require.True(t, f.requests[0].Accepted)
		})
	}
}
