package worker

import (
	"context"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/redrivehq/redrive/job"
)

// Client is a Temporal client whose connection carries the attempt log.
type Client struct {
	client.Client
	dataConverter converter.DataConverter
	namespace     string
}

// How a lost connection comes back. The SDK alone waits up to 10s between two tries to connect, and up to 45s before it
// gives up a connection that has gone silent: longer than many leases.
const (
	reconnectFirst = 100 * time.Millisecond
	reconnectMax   = 300 * time.Millisecond
	connectTimeout = 5 * time.Second
	// unanswered is how long sent bytes may stay unacknowledged (gRPC's keepalive timeout, and TCP's on Linux).
	unanswered = 5 * time.Second
)

// Dial connects to Temporal. The options are Temporal's own; the data converter and the namespace are remembered. Unless
// the options say otherwise, a connection that was lost is tried again about three times a second, so that an outage costs
// no lease if it is shorter than half of it, less a second. A longer one may: the watchdog gives a lease up an eighth
// before it can lapse, and up to a third may have passed since the last heartbeat.
func Dial(ctx context.Context, options client.Options) (*Client, error) {
	if options.DataConverter == nil {
		options.DataConverter = converter.GetDefaultDataConverter()
	}
	if options.Namespace == "" {
		options.Namespace = client.DefaultNamespace
	}
	if options.ConnectionOptions.KeepAliveTimeout == 0 {
		options.ConnectionOptions.KeepAliveTimeout = unanswered
	}
	options.ConnectionOptions.DialOptions = append(
		append([]grpc.DialOption{reconnect()}, options.ConnectionOptions.DialOptions...),
		grpc.WithChainUnaryInterceptor(carryLog),
	)
	if len(options.ExternalStorage.Drivers) == 0 {
		options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(disarm))
	}
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("dial Temporal at %s: %w", options.HostPort, err)
	}
	return &Client{Client: c, dataConverter: options.DataConverter, namespace: options.Namespace}, nil
}

// Encrypts tells whether what this client sends is encrypted: its data converter says so, if it is vault.Protect's.
func (c *Client) Encrypts() bool {
	data, ok := c.dataConverter.(interface{ Encrypts() bool })
	return ok && data.Encrypts()
}

// Namespace is the one that this client is for.
func (c *Client) Namespace() string { return c.namespace }

// DataConverter is what this client's payloads go through. A starter and a replay client on it need the same one.
func (c *Client) DataConverter() converter.DataConverter { return c.dataConverter }

func reconnect() grpc.DialOption {
	waits := backoff.DefaultConfig
	waits.BaseDelay, waits.MaxDelay = reconnectFirst, reconnectMax
	return grpc.WithConnectParams(grpc.ConnectParams{Backoff: waits, MinConnectTimeout: connectTimeout})
}

// carryLog copies the report of a failed attempt and the handler's progress, already encoded by the data converter, from
// the failure's details to last_heartbeat_details. The server stores those before the retry, so the next attempt finds
// them; the SDK never sets the field itself. The failure keeps the report alone: the server replaces failures above 4 KiB.
// The request is the SDK's own and is not used by anybody else.
func carryLog(
	ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if failed, ok := request.(*workflowservice.RespondActivityTaskFailedRequest); ok {
		failure := failed.GetFailure().GetApplicationFailureInfo()
		if details := failure.GetDetails().GetPayloads(); job.Class(failure.GetType()).Known() && len(details) > 0 {
			failed.LastHeartbeatDetails = failure.GetDetails()
			failure.Details = &commonpb.Payloads{Payloads: details[:1]}
		}
	}
	return invoke(ctx, method, request, reply, cc, opts...)
}
