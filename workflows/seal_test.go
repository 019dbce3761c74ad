package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/workflows"
)

func payload(metadata map[string]string, data string) *commonpb.Payload {
	p := &commonpb.Payload{Metadata: map[string][]byte{}, Data: []byte(data)}
	for k, v := range metadata {
		p.Metadata[k] = []byte(v)
	}
	return p
}

const askJSON = `{"request_id":"r-1","actor":"ada","text":"seen"}`

// What Gate lets through is decided by what the payload says of itself.
func TestPrivacyGate(t *testing.T) {
	t.Parallel()
	ours := func(binding string) *commonpb.Payload {
		return payload(map[string]string{"encoding": job.EncodingEncrypted, job.MetadataBinding: binding}, "ciphertext")
	}
	for name, c := range map[string]struct {
		input    *commonpb.Payload
		accepted bool
		opened   int
		detail   string
	}{
		"PlainJSON":         {payload(map[string]string{"encoding": "json/plain"}, askJSON), true, 0, ""},
		"OursForThisJob":    {ours("job:" + order.String()), true, 1, ""},
		"OursForAnotherJob": {ours("job:email.send:other"), false, 0, "encrypted for another job"},
		"OursForNobody":     {ours(""), false, 0, "encrypted for another job"},
		"Foreign":           {payload(map[string]string{"encoding": "binary/encrypted"}, askJSON), false, 0, "neither plain JSON nor encrypted by redrive"},
		"NoMetadata":        {payload(nil, askJSON), false, 0, "neither plain JSON nor encrypted by redrive"},
		"None":              {payload(map[string]string{"encoding": "binary/null"}, ""), false, 0, "came without input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, order.ReplayWorkflowID())
			f.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{&workflows.Gate{}}})
			f.parked = job.Parked{DeadLetterID: "dl_1", ID: order, State: job.StateDeadLettered, Policy: job.ReplayPolicy{Max: 3}}
			opened := 0
			f.register(job.ActivityOpenRequest, func(in job.SealedRequest) (job.OpenedRequest, error) {
				opened++
				require.Equal(t, order.ReplayWorkflowID(), in.WorkflowID)
				return job.OpenedRequest{Input: []byte(askJSON)}, nil
			})
			f.RegisterDelayedCallback(func() { f.SignalWorkflow("annotate", converter.NewRawValue(c.input)) }, time.Second)
			f.RegisterDelayedCallback(f.CancelWorkflow, time.Minute)
			f.ExecuteWorkflow(job.WorkflowReplay, job.ReplayInput{DeadLetterID: "dl_1", ID: order})
			require.Len(t, f.requests, 1)
			require.Equal(t, c.accepted, f.requests[0].Accepted, "%+v", f.requests[0].Refusal)
			require.Equal(t, c.opened, opened)
			if !c.accepted {
				require.Equal(t, job.RefusedInvalidRequest, f.requests[0].Refusal.Code)
				require.Contains(t, f.requests[0].Refusal.Detail, c.detail)
			}
		})
	}
}
