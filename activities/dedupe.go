package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redrivehq/redrive/job"
)

// dedupe calls handle, unless the policy wants keys recognised for longer than Temporal knows them and this one was
// processed before: then the job gets the result of that time, and its handler does not run.
func (r *Runner) dedupe(ctx context.Context, a job.Assignment, handle func() (json.RawMessage, error)) (json.RawMessage, error) {
	if a.Limits.Dedupe != job.DedupeStore {
		return handle()
	}
	var result json.RawMessage
	kept, already, err := job.OnceForKey(ctx, func() (keep json.RawMessage, err error) {
		if result, err = handle(); err != nil {
			return nil, err
		}
		return r.keep(a.Envelope.ID(), result)
	})
	switch {
	case err != nil: // also when the handler is done, and the ledger does not know
		return nil, err
	case !already:
		return result, nil
	}
	r.options.Logger.Info("job deduplicated", zap.String("job_type", string(a.Envelope.Type)), zap.String("job_key", string(a.Envelope.Key)))
	return r.kept(a.Envelope.ID(), kept)
}

// keep encodes a result for the ledger as history has it, so that a payload codec encrypts it here too. One that the ledger
// cannot keep is no reason to fail a job that is done.
func (r *Runner) keep(id job.KeyID, result json.RawMessage) (json.RawMessage, error) {
	payload, err := r.converterOf(id).ToPayload(result)
	if err != nil { // a codec whose key service is down: trouble around the job
		return nil, job.DependencyDown(fmt.Errorf("encode the result for the ledger: %w", errors.Join(job.ErrLedgerUnavailable, err)))
	}
	encoded, err := protojson.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("encode the result for the ledger: %w", err)
	}
	if err := job.CheckEffectResult(encoded); err != nil {
		r.options.Logger.Warn("result too large for the ledger: if the key is started again, the job is not run but dead-lettered",
			zap.String("job_type", string(id.Type)), zap.String("job_key", string(id.Key)), zap.Int("bytes", len(encoded)))
		return nil, nil
	}
	return encoded, nil
}

// converterOf is the data converter as the job's own history has it, whose codec binds what it encrypts to the job.
func (r *Runner) converterOf(id job.KeyID) converter.DataConverter {
	return converter.WithDataConverterSerializationContext(r.options.DataConverter, converter.WorkflowSerializationContext{
		WorkflowID: id.JobWorkflowID(),
	})
}

// kept is the inverse of keep.
func (r *Runner) kept(id job.KeyID, encoded json.RawMessage) (result json.RawMessage, err error) {
	if encoded == nil {
		return nil, job.HandlerDefect(fmt.Errorf("the key was processed before: %w: its result was too large to keep", job.ErrEffectResult))
	}
	var payload commonpb.Payload
	if err := protojson.Unmarshal(encoded, &payload); err != nil {
		return nil, job.HandlerDefect(fmt.Errorf("the key was processed before: %w: what was kept is no payload", job.ErrEffectResult))
	}
	err = r.converterOf(id).FromPayload(&payload, &result)
	if errors.Is(err, job.ErrPayloadGone) {
		return nil, job.HandlerDefect(fmt.Errorf("the key was processed before: %w: what was kept does not open", job.ErrEffectResult))
	}
	if err != nil {
		return nil, job.DependencyDown(fmt.Errorf("decode the kept result: %w", errors.Join(job.ErrLedgerUnavailable, err)))
	}
	return result, nil
}
