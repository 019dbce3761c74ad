package worker_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// frontend answers like a Temporal server whose polls end as poll says.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	poll func(ctx context.Context, queue string) error
}

func (*frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{Capabilities: &workflowservice.GetSystemInfoResponse_Capabilities{}}, nil
}

func (*frontend) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (f *frontend) PollActivityTaskQueue(
	ctx context.Context, request *workflowservice.PollActivityTaskQueueRequest,
) (*workflowservice.PollActivityTaskQueueResponse, error) {
	return &workflowservice.PollActivityTaskQueueResponse{}, f.poll(ctx, request.GetTaskQueue().GetName())
}

// quiet drops the SDK's lines.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

var _ sdklog.Logger = quiet{}

func dial(t *testing.T, poll func(ctx context.Context, queue string) error) *worker.Client {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, &frontend{poll: poll})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})
	c, err := worker.Dial(t.Context(), client.Options{HostPort: listener.Addr().String(), Logger: quiet{}})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func newWorker(t *testing.T, poll func(ctx context.Context, queue string) error) *worker.Worker {
	t.Helper()
	w, err := worker.New(dial(t, poll), worker.Options{Handlers: handlers(t, map[job.Type]job.Policy{"email.send": {}}), Drain: time.Second})
	require.NoError(t, err)
	return w
}

func TestRun(t *testing.T) {
	t.Parallel()
	start := func(ctx context.Context, t *testing.T) (w *worker.Worker, ended chan error) {
		polled := make(chan string, 100)
		w = newWorker(t, func(ctx context.Context, queue string) error {
			polled <- queue
			<-ctx.Done()
			return ctx.Err()
		})
		require.ElementsMatch(t, []string{"redrive.email.send", "redrive.email.send.control"}, w.Queues())
		ended = make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		for seen := map[string]bool{}; len(seen) < 2; {
			seen[<-polled] = true
		}
		return w, ended
	}
	t.Run("EndsWithItsContext", func(t *testing.T) {
		t.Parallel()
		ctx, stop := context.WithCancel(t.Context())
		_, ended := start(ctx, t)
		stop()
		require.NoError(t, <-ended)
	})
	t.Run("EndsWhenAQueueCannotBePolledAnyMore", func(t *testing.T) {
		t.Parallel()
		w, ended := start(t.Context(), t)
		gone := serviceerror.NewNamespaceNotFound("default")
		w.PollerFailed("redrive.email.send", gone)
		w.PollerFailed("redrive.email.send.control", gone)
		err := <-ended
		require.ErrorContains(t, err, "poll redrive.email.send: ")
		require.ErrorIs(t, err, gone)
	})
}
