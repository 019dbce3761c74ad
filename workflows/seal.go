package workflows

import (
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"

	"github.com/redrivehq/redrive/job"
)

// Encodings that Gate gives to signals on their way to Replay. One that arrives with them is refused like any other that is
// not JSON.
const (
	encodingSealed  = "binary/redrive-sealed-signal"
	encodingRefused = "binary/redrive-refused-signal"
)

// Why a signal is refused before anybody tries to decode it.
const (
	refusedEncoding = "it is neither plain JSON nor encrypted by redrive: send it as plain JSON"
	refusedBinding  = "it was encrypted for another job"
	refusedArity    = "it has more than one argument"
)

// Gate is the worker interceptor that looks at every signal before the SDK decodes it. A signal comes from whoever may write
// to the namespace. Decoded as it is, one that cannot be decrypted would be dropped without a word, and with a key service
// that is down an honest one would be, too. Gate decides by what the payload says of itself, never by keys, so that it
// decides the same when the history is replayed: plain JSON passes; ciphertext of ours for this job is wrapped, for Replay
// to have it opened; anything else is marked as refused, for Replay to record.
type Gate struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (*Gate) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	inbound := &gateInbound{}
	inbound.Next = next
	return inbound
}

type gateInbound struct {
	interceptor.WorkflowInboundInterceptorBase
}

// HandleSignal implements interceptor.WorkflowInboundInterceptor.
func (g *gateInbound) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	if payloads := in.Arg.GetPayloads(); len(payloads) > 0 {
		checked, err := gate(workflow.GetInfo(ctx).WorkflowExecution.ID, payloads)
		if err != nil {
			return err
		}
		in.Arg = &commonpb.Payloads{Payloads: []*commonpb.Payload{checked}}
	}
	return g.Next.HandleSignal(ctx, in)
}

func gate(workflowID string, payloads []*commonpb.Payload) (*commonpb.Payload, error) {
	first := payloads[0]
	switch {
	case len(payloads) > 1:
		return wrap(first, encodingRefused, refusedArity)
	case plainJSON(first):
		return first, nil
	case encodingOf(first) != job.EncodingEncrypted:
		return wrap(first, encodingRefused, refusedEncoding)
	case string(first.GetMetadata()[job.MetadataBinding]) != job.PayloadBinding(workflowID):
		return wrap(first, encodingRefused, refusedBinding)
	}
	return wrap(first, encodingSealed, "")
}

// metadataReason is on a refused signal.
const metadataReason = "reason"

// wrap hides a payload from the codec. All of it is kept: it names a request that came without an id.
func wrap(p *commonpb.Payload, encoding, reason string) (*commonpb.Payload, error) {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding), metadataReason: []byte(reason)},
		Data:     data,
	}, err
}

func encodingOf(p *commonpb.Payload) string {
	return string(p.GetMetadata()[converter.MetadataEncoding])
}

// plainJSON tells whether p is JSON text, or nothing.
func plainJSON(p *commonpb.Payload) bool {
	encoding := encodingOf(p)
	return encoding == converter.MetadataEncodingJSON || encoding == converter.MetadataEncodingNil
}

// read turns what a door let in into a request. A signal has passed Gate; an update was decoded by the SDK.
func read(kind job.RequestKind, raw converter.RawValue) incoming {
	in := incoming{kind: kind, raw: inputBytes(raw)}
	switch p := raw.Payload(); {
	case p == nil || plainJSON(p):
	case encodingOf(p) == encodingSealed:
		in.sealed = true
	case encodingOf(p) == encodingRefused:
		in.refusal = string(p.GetMetadata()[metadataReason])
	case encodingOf(p) == job.EncodingEncrypted:
		in.refusal = refusedBinding
		if string(p.GetMetadata()[job.MetadataUnopened]) == job.UnopenedKeyDestroyed {
			in.refusal = "the key that it was encrypted with was destroyed"
		}
	default:
		in.refusal = refusedEncoding
	}
	return in
}

// unsealWindow is how long a key service may be out of order before a sealed request is refused.
const unsealWindow = time.Minute

// unseal has a sealed signal opened. A key that nobody has within the time is a refusal, and the operator asks again.
func (r *replayRun) unseal(in incoming) incoming {
	info := workflow.GetInfo(r.ctx)
	ctx := storeOptions(r.ctx)
	ctx = workflow.WithScheduleToCloseTimeout(ctx, unsealWindow)
	var opened job.OpenedRequest
	err := workflow.ExecuteActivity(ctx, job.ActivityOpenRequest, job.SealedRequest{
		Namespace: info.Namespace, WorkflowID: info.WorkflowExecution.ID, Payload: in.raw,
	}).Get(ctx, &opened)
	switch {
	case temporal.IsTimeoutError(err) || temporal.IsApplicationError(err):
		in.refusal = "it could not be decrypted in time; send it again, or as plain JSON"
	case err != nil:
		r.fail(err)
		in.refusal = "it could not be decrypted"
	case opened.Refusal != "":
		in.refusal = opened.Refusal
	default:
		in.raw = opened.Input
	}
	in.sealed = false
	return in
}
