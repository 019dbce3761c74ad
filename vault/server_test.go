package vault_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/testsuite"
	"github.com/redrivehq/redrive/testsuite/services"
	"github.com/redrivehq/redrive/vault"
)

// outage is a codec whose first call on the worker goes wrong. One suffices: the server delays a task's third attempt.
type outage struct {
	healthy, broken codec
	calls           *atomic.Int64
}

func (o outage) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return o.healthy.Encode(in)
}

func (o outage) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if o.calls.Add(1) == 1 {
		return o.broken.Decode(in)
	}
	return o.healthy.Decode(in)
}

// TestWorkflowSurvivesAnOutage is the promise on a real server: the task fails, the workflow completes.
func TestWorkflowSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	client := dial(t, newConverter(codec{}))
	for mode, says := range map[string]string{"fail": errKMS.Error(), "panic": "codec panicked", "lose": "codec made 0 payloads of 1"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			queue := "vault-" + mode
			startGreeter(t, client, queue, outage{broken: codec{decode: mode}, calls: new(atomic.Int64)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			run, err := client.ExecuteWorkflow(ctx, sdkclient.StartWorkflowOptions{TaskQueue: queue}, "greet", "ada")
			require.NoError(t, err)
			var greeting string
			require.NoError(t, run.Get(ctx, &greeting))
			require.Equal(t, "hello ada", greeting)
			failures := taskFailures(t, client, run)
			require.Len(t, failures, 1)
			require.Contains(t, failures[0], says)
			require.NotContains(t, failures[0], "secret of the codec")
		})
	}
}

// startGreeter runs a worker whose panic policy is the strict one: only the kind of the error saves the workflow.
func startGreeter(t *testing.T, client sdkclient.Client, queue string, codec converter.PayloadCodec) {
	t.Helper()
	onWorker, err := sdkclient.NewClientFromExisting(client, sdkclient.Options{
		DataConverter: vault.DataConverter(converter.GetDefaultDataConverter(), codec),
	})
	require.NoError(t, err)
	t.Cleanup(onWorker.Close)
	w := sdkworker.New(onWorker, queue, sdkworker.Options{WorkflowPanicPolicy: sdkworker.FailWorkflow})
	w.RegisterWorkflowWithOptions(func(_ workflow.Context, name string) (string, error) {
		return "hello " + name, nil
	}, workflow.RegisterOptions{Name: "greet"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
}

// taskFailures returns what the history says of failed workflow tasks, everything of it.
func taskFailures(t *testing.T, client sdkclient.Client, run sdkclient.WorkflowRun) (texts []string) {
	t.Helper()
	events := client.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(t, err)
		if failed := event.GetWorkflowTaskFailedEventAttributes(); failed != nil {
			texts = append(texts, failed.String())
		}
	}
	return texts
}

func dial(t *testing.T, data converter.DataConverter) sdkclient.Client {
	t.Helper()
	services.Needed(t, "a Temporal server")
	server, err := testsuite.StartServer(t.Context(), testsuite.ServerOptions{Reuse: os.Getenv("REDRIVE_TEST_TEMPORAL"), NoUI: true})
	if errors.Is(err, testsuite.ErrNoServer) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	client, err := sdkclient.Dial(sdkclient.Options{HostPort: server.Address, Namespace: server.Namespace, DataConverter: data})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}
