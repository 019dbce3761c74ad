package vault

import (
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"

	"github.com/redrivehq/redrive/job"
)

// Protect returns options whose client, and the workers on it, encrypt what they send to Temporal: inputs, results,
// heartbeats, signals, summaries, and the messages and stacks of failures. Give it the options of every client that starts,
// runs or reads jobs. A data converter that the options have makes the payloads that are encrypted; a failure converter is
// replaced.
func Protect(options client.Options, keys *Keyset) client.Options {
	if keys == nil {
		panic("vault: Protect without a keyset") // a client that sent everything in the clear would look the same
	}
	parent := options.DataConverter
	if parent == nil {
		parent = converter.GetDefaultDataConverter()
	}
	options.DataConverter = DataConverter(parent, NewCodec(keys))
	options.FailureConverter = newFailureConverter(options.DataConverter)
	return options
}

// failureConverter encodes messages and stacks, too. The SDK's own does not pass a serialization context on to its data
// converter, so what it encrypts would be bound to nothing.
type failureConverter struct {
	converter.FailureConverter
	data converter.DataConverter
}

func newFailureConverter(data converter.DataConverter) *failureConverter {
	return &failureConverter{data: data, FailureConverter: temporal.NewDefaultFailureConverter(
		temporal.DefaultFailureConverterOptions{DataConverter: data, EncodeCommonAttributes: true},
	)}
}

// WithSerializationContext implements converter.FailureConverterWithSerializationContext.
func (f *failureConverter) WithSerializationContext(ctx converter.SerializationContext) converter.FailureConverter {
	return newFailureConverter(converter.WithDataConverterSerializationContext(f.data, ctx))
}

// Codec encrypts payloads with AES-256-GCM and binds each to the job it belongs to: one that is copied into another job's
// history does not open there. A job's Job and Replay share the binding.
//
// An encrypted payload says in its metadata which key made it and what it is bound to, so that it can be decoded without
// knowing where it comes from, as the Temporal Web UI and CLI have it. In a serialization context the two must agree. A
// payload without the codec's own encoding passes through as it is: operators' signals are plain JSON. What was decrypted
// carries job.MetadataDecrypted, and nothing else does.
//
// It is safe for concurrent use.
type Codec struct {
	keys    *Keyset
	binding string // empty: no context
}

// NewCodec returns a codec without a context.
func NewCodec(keys *Keyset) *Codec { return &Codec{keys: keys} }

// WithSerializationContext implements converter.PayloadCodecWithSerializationContext.
func (c *Codec) WithSerializationContext(ctx converter.SerializationContext) converter.PayloadCodec {
	var workflowID string
	switch in := ctx.(type) {
	case converter.WorkflowSerializationContext:
		workflowID = in.WorkflowID
	case converter.ActivitySerializationContext:
		workflowID = in.WorkflowID
	}
	return &Codec{keys: c.keys, binding: job.PayloadBinding(workflowID)}
}

// Encode implements converter.PayloadCodec.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	encoded := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plaintext, err := proto.Marshal(unmarked(p))
		if err != nil {
			return nil, fmt.Errorf("marshal payload: %w", err)
		}
		ciphertext, err := c.keys.seal(plaintext, associated(c.binding))
		if err != nil {
			return nil, err
		}
		encoded[i] = &commonpb.Payload{
			Metadata: map[string][]byte{
				converter.MetadataEncoding: []byte(job.EncodingEncrypted),
				job.MetadataKeyID:          []byte(c.keys.ID()),
				job.MetadataBinding:        []byte(c.binding),
			},
			Data: ciphertext,
		}
	}
	return encoded, nil
}

// Decode implements converter.PayloadCodec. The error wraps ErrForged or ErrKeyDestroyed, which are job.ErrPayloadGone, or
// ErrUnknownKey.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	decoded := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.GetMetadata()[converter.MetadataEncoding]) != job.EncodingEncrypted {
			decoded[i] = unmarked(p)
			continue
		}
		var err error
		if decoded[i], err = c.decrypt(p); err != nil {
			return nil, err
		}
	}
	return decoded, nil
}

func (c *Codec) decrypt(p *commonpb.Payload) (*commonpb.Payload, error) {
	bound := string(p.GetMetadata()[job.MetadataBinding])
	if c.binding != "" && bound != c.binding {
		return nil, ErrForged
	}
	key := string(p.GetMetadata()[job.MetadataKeyID])
	plaintext, err := c.keys.open(p.GetData(), associated(bound), key)
	if err != nil {
		return nil, err
	}
	inner := &commonpb.Payload{}
	if err := proto.Unmarshal(plaintext, inner); err != nil {
		return nil, ErrForged
	}
	if inner.Metadata == nil {
		inner.Metadata = map[string][]byte{}
	}
	inner.Metadata[job.MetadataDecrypted] = []byte(key)
	return inner, nil
}

// unmarked takes the marks off that only a decoder may put on a payload. The payload itself is somebody else's.
func unmarked(p *commonpb.Payload) *commonpb.Payload {
	_, decrypted := p.GetMetadata()[job.MetadataDecrypted]
	_, unopened := p.GetMetadata()[job.MetadataUnopened]
	if !decrypted && !unopened {
		return p
	}
	clean, _ := proto.Clone(p).(*commonpb.Payload)
	delete(clean.Metadata, job.MetadataDecrypted)
	delete(clean.Metadata, job.MetadataUnopened)
	return clean
}

func associated(binding string) []byte { return []byte("redrive codec v1\x00" + binding) }
