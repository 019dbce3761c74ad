package vault

import (
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// DataConverter puts codecs around parent so that a codec that fails, or panics, fails the workflow task, which is
// tried again, and never the workflow. Without it the SDK takes the error of a key service that is down for a failure of
// the workflow itself. Outside workflow tasks the error is an ordinary one. Codecs are applied in the SDK's order: the
// first is the outermost.
func DataConverter(parent converter.DataConverter, codecs ...converter.PayloadCodec) converter.DataConverter {
	patient := make([]converter.PayloadCodec, len(codecs))
	for i, codec := range codecs {
		patient[i] = &patientCodec{codec}
	}
	return converter.NewCodecDataConverter(parent, patient...)
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
		if err != nil {
			out, err = nil, converter.NewWorkflowTaskFailureError(fmt.Errorf("%s payload: %w", what, err))
		}
	}()
	if out, err = codec(); err == nil && len(out) != want {
		err = fmt.Errorf("codec made %d payloads of %d", len(out), want)
	}
	return out, err
}
