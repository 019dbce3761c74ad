package vault

import (
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/redrivehq/redrive/job"
)

// DataConverter puts codecs around parent so that a codec that fails, or panics, fails the workflow task, which is
// tried again, and never the workflow. Without it the SDK takes the error of a key service that is down for a failure of
// the workflow itself. Outside workflow tasks the error is an ordinary one. Codecs are applied in the SDK's order: the
// first is the outermost.
//
// Trying again does not help with a payload that is gone (job.ErrPayloadGone: it was forged, or its key was destroyed).
// That is an ordinary error, and no error at all for whoever takes a raw value: it gets the payload as it came, marked
// with job.MetadataUnopened, and decides itself. Job does, since its input would otherwise fail it before its first line.
func DataConverter(parent converter.DataConverter, codecs ...converter.PayloadCodec) converter.DataConverter {
	d := &dataConverter{}
	patient := make([]converter.PayloadCodec, len(codecs))
	for i, codec := range codecs {
		_, ours := codec.(*Codec)
		d.encrypts = d.encrypts || ours
		patient[i] = &patientCodec{codec}
	}
	d.DataConverter = converter.NewCodecDataConverter(parent, patient...)
	return d
}

// dataConverter is the SDK's, but for raw values that do not open.
type dataConverter struct {
	converter.DataConverter
	encrypts bool
}

// Encrypts tells whether payloads go through a Codec; a worker on such a client knows a plain start when it sees one.
func (d *dataConverter) Encrypts() bool { return d.encrypts }

// Codec implements converter.PayloadCodecProvider.
func (d *dataConverter) Codec() converter.PayloadCodec {
	if provider, ok := d.DataConverter.(converter.PayloadCodecProvider); ok {
		return provider.Codec()
	}
	return nil
}

// WithSerializationContext implements converter.DataConverterWithSerializationContext.
func (d *dataConverter) WithSerializationContext(ctx converter.SerializationContext) converter.DataConverter {
	return &dataConverter{converter.WithDataConverterSerializationContext(d.DataConverter, ctx), d.encrypts}
}

// FromPayload implements converter.DataConverter.
func (d *dataConverter) FromPayload(p *commonpb.Payload, into any) error {
	err := d.DataConverter.FromPayload(p, into)
	raw, ok := into.(*converter.RawValue)
	if !ok || !errors.Is(err, job.ErrPayloadGone) {
		return err
	}
	*raw = converter.NewRawValue(unopened(p, err))
	return nil
}

// FromPayloads implements converter.DataConverter.
func (d *dataConverter) FromPayloads(payloads *commonpb.Payloads, into ...any) error {
	err := d.DataConverter.FromPayloads(payloads, into...)
	if !errors.Is(err, job.ErrPayloadGone) {
		return err
	}
	for i, p := range payloads.GetPayloads() { // the codec took them together, and one that is gone took the others with it
		if i == len(into) {
			break
		}
		if err := d.FromPayload(p, into[i]); err != nil {
			return err
		}
	}
	return nil
}

// unopened is p with the reason why it does not open.
func unopened(p *commonpb.Payload, err error) *commonpb.Payload {
	reason := job.UnopenedForged
	if errors.Is(err, ErrKeyDestroyed) {
		reason = job.UnopenedKeyDestroyed
	}
	marked, _ := proto.Clone(p).(*commonpb.Payload)
	if marked.Metadata == nil {
		marked.Metadata = map[string][]byte{}
	}
	marked.Metadata[job.MetadataUnopened] = []byte(reason)
	return marked
}

// patientCodec is used by pointer: the SDK compares codecs, and the one inside need not be comparable.
type patientCodec struct{ codec converter.PayloadCodec }

// Encode implements converter.PayloadCodec.
func (p *patientCodec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return patiently("encode", func() ([]*commonpb.Payload, error) { return p.codec.Encode(payloads) }, len(payloads))
}

// Decode implements converter.PayloadCodec.
func (p *patientCodec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return patiently("decode", func() ([]*commonpb.Payload, error) { return p.codec.Decode(payloads) }, len(payloads))
}

// WithSerializationContext lets a codec see which workflow or activity its payloads belong to. One that panics here, or
// returns nothing, fails when it is used.
func (p *patientCodec) WithSerializationContext(ctx converter.SerializationContext) (bound converter.PayloadCodec) {
	codec, ok := p.codec.(converter.PayloadCodecWithSerializationContext)
	if !ok {
		return p
	}
	defer func() {
		if recover() != nil {
			bound = &patientCodec{}
		}
	}()
	return &patientCodec{codec.WithSerializationContext(ctx)}
}

var errCodecPanic = errors.New("codec panicked")

func patiently(what string, codec func() ([]*commonpb.Payload, error), want int) (out []*commonpb.Payload, err error) {
	defer func() {
		if recover() != nil { // the value may hold what was being encoded
			err = errCodecPanic
		}
		switch {
		case errors.Is(err, job.ErrPayloadGone): // no later attempt heals it
			out, err = nil, fmt.Errorf("%s payload: %w", what, err)
		case err != nil:
			out, err = nil, converter.NewWorkflowTaskFailureError(fmt.Errorf("%s payload: %w", what, err))
		}
	}()
	if out, err = codec(); err == nil && len(out) != want {
		err = fmt.Errorf("codec made %d payloads of %d", len(out), want)
	}
	return out, err
}
