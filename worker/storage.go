package worker

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// How the SDK marks a payload that is a reference into external storage, now and in earlier releases.
const (
	storageMessage  = "temporal.api.sdk.v1.ExternalStorageReference"
	storageEncoding = "json/external-storage-reference"
	// disarmedEncoding is in no converter's list, so whoever decodes such a payload gets an error about it.
	disarmedEncoding = "redrive/refused-storage-reference"
)

// disarm takes the meaning from references into external storage that this client has no driver for. The SDK looks for them
// in whatever a worker is given, before any interceptor of its own, and fails the whole task over one: a signal from anybody
// who may write to the namespace would stop a workflow for good.
func disarm(
	ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if err := invoke(ctx, method, request, reply, cc, opts...); err != nil {
		return err
	}
	switch message := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		return disarmAll(ctx, message)
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		return disarmAll(ctx, message)
	case *workflowservice.GetWorkflowExecutionHistoryResponse:
		return disarmAll(ctx, message)
	case *workflowservice.PollActivityTaskQueueResponse:
		return disarmAll(ctx, message)
	}
	return nil
}

func disarmAll(ctx context.Context, message proto.Message) error {
	return proxy.VisitPayloads(ctx, message, proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range payloads { // of a message that was just received, so nobody else's
				if isStorageReference(p) {
					p.Metadata[converter.MetadataEncoding] = []byte(disarmedEncoding)
				}
			}
			return payloads, nil
		},
	})
}

func isStorageReference(p *commonpb.Payload) bool {
	switch string(p.GetMetadata()[converter.MetadataEncoding]) {
	case storageEncoding:
		return true
	case converter.MetadataEncodingProtoJSON:
		return string(p.GetMetadata()[converter.MetadataMessageType]) == storageMessage
	}
	return false
}
