package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
	"github.com/redrivehq/redrive/worker"
)

func handlers(t *testing.T, policies map[job.Type]job.Policy) *worker.Handlers {
	t.Helper()
	h := new(worker.Handlers)
	for jobType, policy := range policies {
		require.NoError(t, worker.Register(h, job.Definition{
			Type: jobType, Effects: job.EffectsNone, Owner: "team", Policy: policy,
		}, func(context.Context, any) (any, error) { return nil, nil }))
	}
	return h
}

// shelf is a store and a vault that nobody asks, and no ledger.
type shelf struct {
	worker.Store
	worker.Vault
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	one := map[job.Type]job.Policy{"a": {}}
	for name, c := range map[string]struct {
		options worker.Options
		says    string
	}{
		"NothingToPoll":       {worker.Options{}, "nothing to poll"},
		"PoliciesWithoutAll":  {worker.Options{Policies: &job.Policies{}}, "store and a vault"},
		"NegativeDrain":       {worker.Options{Handlers: handlers(t, one), Drain: -time.Second}, "drain -1s"},
		"NegativeConcurrency": {worker.Options{Handlers: handlers(t, one), MaxConcurrent: -1}, "max concurrent -1"},
		"NegativePurge":       {worker.Options{Handlers: handlers(t, one), PurgeEvery: -time.Second}, "purge every -1s"},
		"DedupeWithoutLedger": {worker.Options{Handlers: handlers(t, map[job.Type]job.Policy{"a": {Dedupe: job.DedupeStore}})}, "job type a has its keys recognised by the ledger"},
		"DefaultDedupeWithoutLedger": {worker.Options{
			Handlers: handlers(t, one), Policies: &job.Policies{Default: job.Policy{Dedupe: job.DedupeStore}}, Store: shelf{}, Vault: shelf{},
		}, "job type a has its keys recognised by the ledger"},
		"LongVersion": {worker.Options{Handlers: handlers(t, one), HandlerVersion: strings.Repeat("v", 129)}, "129 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := worker.New(nil, c.options)
			require.ErrorIs(t, err, worker.ErrInvalidOptions)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestPoliciesMerge(t *testing.T) {
	t.Parallel()
	h := handlers(t, map[job.Type]job.Policy{"both": {MaxAttempts: 2}, "definition": {MaxAttempts: 3}, "neither": {}})
	file := &job.Policies{
		Default: job.Policy{MaxAttempts: 4},
		ByType:  map[job.Type]job.Policy{"both": {MaxAttempts: 5}, "elsewhere": {MaxAttempts: 6}},
	}
	set, err := worker.Options{Handlers: h, Policies: file}.MergedPolicies()
	require.NoError(t, err)
	got := map[job.Type]int{}
	for _, jobType := range []job.Type{"both", "definition", "neither", "elsewhere", "unknown"} {
		got[jobType] = set.For(jobType).MaxAttempts
	}
	require.Equal(t, map[job.Type]int{"both": 5, "definition": 3, "neither": 4, "elsewhere": 6, "unknown": 4}, got)
	require.Len(t, file.ByType, 2, "the caller's set is left alone")

	for name, broken := range map[string]job.Policies{
		"DefaultInvalid":         {Default: job.Policy{Priority: 9}},
		"KeyTTLWithinTheHorizon": {Default: job.Policy{KeyTTL: 24 * time.Hour}},
		"EntryInvalid":           {ByType: map[job.Type]job.Policy{"a": {Redaction: redaction.Policy{}, Priority: 9}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := worker.Options{Policies: &broken}.MergedPolicies()
			require.ErrorIs(t, err, job.ErrInvalidPolicy)
		})
	}
}

func TestBuildVersion(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, worker.BuildVersion())
}

// A handler's progress goes on to the next attempt, and not into the failure.
func TestCarryProgress(t *testing.T) {
	t.Parallel()
	sealed := []*commonpb.Payload{{Data: []byte("sealed report")}, {Data: []byte("sealed progress")}}
	request := &workflowservice.RespondActivityTaskFailedRequest{Failure: &failurepb.Failure{
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
			Type: "transient", Details: &commonpb.Payloads{Payloads: sealed},
		}},
	}}
	require.NoError(t, worker.CarryLog(t.Context(), "/method", request, "reply", nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }))
	require.Equal(t, sealed, request.GetLastHeartbeatDetails().GetPayloads())
	require.Equal(t, sealed[:1], request.GetFailure().GetApplicationFailureInfo().GetDetails().GetPayloads())
}

func TestCarryLog(t *testing.T) {
	t.Parallel()
	details := &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte("sealed report")}}}
	failed := func(errorType string, details *commonpb.Payloads) *workflowservice.RespondActivityTaskFailedRequest {
		return &workflowservice.RespondActivityTaskFailedRequest{Failure: &failurepb.Failure{
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
				Type: errorType, Details: details,
			}},
		}}
	}
	for name, c := range map[string]struct {
		request proto.Message
		carried bool
	}{
		"OurClass":          {failed("transient", details), true},
		"FinalClass":        {failed("rejected", details), true},
		"WithoutDetails":    {failed("transient", nil), false},
		"EmptyDetails":      {failed("transient", &commonpb.Payloads{}), false},
		"AnotherType":       {failed("PanicError", details), false},
		"DeadLettered":      {failed(job.TypeDeadLettered, details), false},
		"NoFailure":         {&workflowservice.RespondActivityTaskFailedRequest{}, false},
		"ATimeout":          {&workflowservice.RespondActivityTaskFailedRequest{Failure: &failurepb.Failure{FailureInfo: &failurepb.Failure_TimeoutFailureInfo{}}}, false},
		"ACompletedRequest": {&workflowservice.RespondActivityTaskCompletedRequest{Result: details}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, calls := proto.Clone(c.request), 0
			err := worker.CarryLog(t.Context(), "/method", c.request, "reply", nil,
				func(_ context.Context, method string, request, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					calls++
					require.Equal(t, []any{"/method", "reply"}, []any{method, reply})
					require.Same(t, c.request, request)
					return context.Canceled
				})
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, 1, calls)
			if c.carried {
				request := c.request.(*workflowservice.RespondActivityTaskFailedRequest)
				require.True(t, proto.Equal(details, request.GetLastHeartbeatDetails()))
				request.LastHeartbeatDetails = nil
			}
			require.True(t, proto.Equal(before, c.request), "nothing else is changed: %v", c.request)
		})
	}
}
