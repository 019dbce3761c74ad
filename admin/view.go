package admin

import (
	"encoding/json"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// redactors are those of a policy set.
type redactors struct {
	byType   map[job.Type]*redaction.Redactor
	fallback *redaction.Redactor
}

func newRedactors(policies job.Policies) (redactors, error) {
	fallback, err := redaction.Compile(policies.Default.Redaction)
	if err != nil {
		return redactors{}, fmt.Errorf("%w: default policy: %w", ErrInvalidOptions, err)
	}
	r := redactors{byType: map[job.Type]*redaction.Redactor{}, fallback: fallback}
	for t, policy := range policies.ByType {
		if r.byType[t], err = redaction.Compile(policy.Redaction); err != nil {
			return redactors{}, fmt.Errorf("%w: policy of job type %s: %w", ErrInvalidOptions, t, err)
		}
	}
	return r, nil
}

// of returns the redactor of the job that a payload is bound to. A binding that opened a payload is true.
func (r redactors) of(bound string) *redaction.Redactor {
	if id, err := job.ParseJobWorkflowID(bound); err == nil {
		if own, ok := r.byType[id.Type]; ok {
			return own
		}
	}
	return r.fallback
}

// unreadable stands in the place of a payload that does not open. Beside it, the other payloads of an event are shown.
type unreadable struct {
	Redrive string `json:"redrive"`
	Reason  string `json:"reason"`
}

// open decrypts one payload. A payload that does not open comes back as a sentence about it.
func (a *api) open(p *commonpb.Payload) (opened *commonpb.Payload, ok bool) {
	decoded, err := a.Codec.Decode([]*commonpb.Payload{p})
	if err == nil && len(decoded) == 1 {
		return decoded[0], true
	}
	reason := "it does not open now: its key is not in this server's keyset, or the key service does not answer"
	if errors.Is(err, job.ErrPayloadGone) {
		reason = "it does not open: it was changed, or its key was destroyed"
	}
	a.Logger.Warn("payload does not open", zap.String("binding", binding(p)), zap.Error(err))
	sentence, _ := json.Marshal(unreadable{"unreadable", reason}) // two strings
	return plainJSON(sentence), false
}

// fullView shows a payload as it was before it was encrypted.
func (a *api) fullView(p *commonpb.Payload) *commonpb.Payload {
	opened, ok := a.open(p)
	if !ok {
		return opened
	}
	shown := &commonpb.Payload{Metadata: map[string][]byte{}, Data: opened.GetData()}
	for name, value := range opened.GetMetadata() {
		if name != job.MetadataDecrypted {
			shown.Metadata[name] = value
		}
	}
	return shown
}

// redactedView shows what the job type's policy lets through. Metadata is dropped: it may hold anything.
func (a *api) redactedView(p *commonpb.Payload) *commonpb.Payload {
	opened, ok := a.open(p)
	switch {
	case !ok:
		return opened
	case len(opened.GetData()) == 0:
		return &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingNil)}}
	}
	return plainJSON(redact(a.redactors.of(binding(p)), opened.GetData()))
}

func plainJSON(data []byte) *commonpb.Payload {
	return &commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: data,
	}
}

// redact is Redactor.Payload, but where the document is an envelope, or has one as an activity's input does, the job's
// payload in it is redacted by itself: a policy's paths begin there. What is put together again is made of redacted parts
// only.
func redact(r *redaction.Redactor, document []byte) json.RawMessage {
	if rest, envelope, ok := without(document, "envelope"); ok {
		return around(r, rest, "envelope", redactEnvelope(r, envelope))
	}
	return redactEnvelope(r, document)
}

func redactEnvelope(r *redaction.Redactor, document []byte) json.RawMessage {
	if rest, payload, ok := without(document, "payload", "type", "key"); ok {
		return around(r, rest, "payload", r.Payload(payload).JSON)
	}
	return r.Payload(document).JSON
}

// without takes a member out of an object that has it and the others.
func without(document []byte, member string, others ...string) (rest, inner json.RawMessage, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil {
		return nil, nil, false
	}
	for _, name := range append(others, member) {
		if members[name] == nil {
			return nil, nil, false
		}
	}
	inner = members[member]
	delete(members, member)
	rest, err := json.Marshal(members)
	return rest, inner, err == nil
}

// around redacts the rest of an object and puts the member back, unless the rest is withheld as a whole.
func around(r *redaction.Redactor, rest json.RawMessage, member string, shown json.RawMessage) json.RawMessage {
	redacted := r.Payload(rest)
	var members map[string]json.RawMessage
	if redacted.Report.Withheld || json.Unmarshal(redacted.JSON, &members) != nil || members == nil {
		return redacted.JSON
	}
	members[member] = shown
	joined, err := json.Marshal(members)
	if err != nil {
		return redacted.JSON
	}
	return joined
}
