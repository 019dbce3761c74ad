package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/redrivehq/redrive/job"
)

// OpenRequest decrypts an operator's request that an encrypting client sent. What is no ciphertext for this workflow is
// refused; a key that this worker does not have is an error, since another worker may.
func (d *DeadLetters) OpenRequest(_ context.Context, in job.SealedRequest) (job.OpenedRequest, error) {
	var sealed commonpb.Payload
	if err := proto.Unmarshal(in.Payload, &sealed); err != nil {
		return job.OpenedRequest{Refusal: "it is not a payload"}, nil
	}
	data := converter.WithDataConverterSerializationContext(d.options.DataConverter, converter.WorkflowSerializationContext{
		Namespace: in.Namespace, WorkflowID: in.WorkflowID,
	})
	var raw converter.RawValue
	err := data.FromPayload(&sealed, &raw)
	metadata := raw.Payload().GetMetadata()
	switch reason, unopened := metadata[job.MetadataUnopened]; {
	case errors.Is(err, job.ErrPayloadGone):
		return job.OpenedRequest{Refusal: "it does not decrypt"}, nil
	case err != nil:
		return job.OpenedRequest{}, fmt.Errorf("open a request of %s: %w", in.WorkflowID, err)
	case unopened:
		return job.OpenedRequest{Refusal: "it does not decrypt: " + string(reason)}, nil
	case string(metadata[converter.MetadataEncoding]) != converter.MetadataEncodingJSON:
		return job.OpenedRequest{Refusal: "what was encrypted is not JSON"}, nil
	}
	if !json.Valid(raw.Payload().GetData()) {
		return job.OpenedRequest{Refusal: "what was encrypted is not valid JSON"}, nil
	}
	return job.OpenedRequest{Input: raw.Payload().GetData()}, nil
}
