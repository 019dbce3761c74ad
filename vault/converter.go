package vault

import (
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// DataConverter puts codecs around parent so that a codec that fails, or panics, fails the workflow task, which is
// tried again, and never the workflow.
func DataConverter(parent converter.DataConverter, codecs ...converter.PayloadCodec) converter.DataConverter {
	patient := make([]converter.PayloadCodec, len(codecs))
	for i, codec := range codecs {
		patient[i] = patientCodec{codec}
	}
	return converter.NewCodecDataConverter(parent, patient...)
}

type patientCodec struct{ codec converter.PayloadCodec }

// Encode implements converter.PayloadCodec.
func (p patientCodec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return patiently("encode", p.codec.Encode, payloads)
}

// Decode implements converter.PayloadCodec.
func (p patientCodec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return patiently("decode", p.codec.Decode, payloads)
}

var errCodecPanic = errors.New("codec panicked")

func patiently(
	what string, codec func([]*commonpb.Payload) ([]*commonpb.Payload, error), in []*commonpb.Payload,
) (out []*commonpb.Payload, err error) {
	defer func() {
		if recover() != nil { // the value may hold what was being encoded
			err = errCodecPanic
		}
		if err != nil {
			out, err = nil, converter.NewWorkflowTaskFailureError(fmt.Errorf("%s payload: %w", what, err))
		}
	}()
	return codec(in)
}
