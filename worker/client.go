package worker

import (
	"context"
	"fmt"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"

	"github.com/redrivehq/redrive/job"
)

// Client is a Temporal client whose connection carries the attempt log.
type Client struct {
	client.Client
	dataConverter converter.DataConverter
	namespace     string
}

// Dial connects to Temporal. The options are Temporal's own; the data converter and the namespace are remembered.
func Dial(ctx context.Context, options client.Options) (*Client, error) {
	if options.DataConverter == nil {
		options.DataConverter = converter.GetDefaultDataConverter()
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	options.ConnectionOptions.DialOptions = append(
		append([]grpc.DialOption(nil), options.ConnectionOptions.DialOptions...),
		grpc.WithChainUnaryInterceptor(carryLog),
	)
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("dial Temporal at %s: %w", options.HostPort, err)
	}
	return &Client{Client: c, dataConverter: options.DataConverter, namespace: options.Namespace}, nil
}

// carryLog copies the report of a failed attempt, already encoded by the data converter, from the failure's details to
// last_heartbeat_details. The server stores those before the retry, so the next attempt finds them; the SDK never sets
// the field itself. The request is the SDK's own and is not used by anybody else.
func carryLog(
	ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if failed, ok := request.(*workflowservice.RespondActivityTaskFailedRequest); ok {
		failure := failed.GetFailure().GetApplicationFailureInfo()
		if job.Class(failure.GetType()).Known() && len(failure.GetDetails().GetPayloads()) > 0 {
			failed.LastHeartbeatDetails = failure.GetDetails()
		}
	}
	return invoke(ctx, method, request, reply, cc, opts...)
}
