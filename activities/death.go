package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/internal/history"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// Store is what the dead-letter activities need of it. Every method is idempotent and safe for concurrent use; every error
// is retried for ever, but for job.ErrNotFound of DeadLetter where a Replay asks whether there is such a letter.
type Store interface {
	RecordFailure(ctx context.Context, letter job.DeadLetter, payload *job.SealedPayload) error
	DeadLetter(ctx context.Context, id job.DeadLetterID) (job.DeadLetter, error)
	SaveRequest(ctx context.Context, r job.RequestRecord) error
	SaveReplay(ctx context.Context, r job.ReplayRecord) error
}

// Vault seals and opens payloads.
type Vault interface {
	Payloads
	Seal(ref job.PayloadRef, id job.KeyID, plaintext []byte, now time.Time) (job.SealedPayload, error)
}

// DeadLettersOptions are the collaborators of DeadLetters.
type DeadLettersOptions struct {
	Client        client.Client
	DataConverter converter.DataConverter
	Store         Store
	Vault         Vault
	Effects       Settler // nil: effects are not shown, and operators' words on them are only recorded
	Policies      job.Policies
	Namespace     string           // whose letters these are, when several share a store; empty: any
	Registry      *Registry        // for owner and runbook; may be empty
	Observer      job.Observer     // nil: nobody
	Logger        *zap.Logger      // nil: none
	Now           func() time.Time // nil: time.Now
}

// DeadLetters are the activities on the store's queue.
type DeadLetters struct {
	options   DeadLettersOptions
	redactors map[job.Type]*redaction.Redactor
	fallback  *redaction.Redactor
}

// NewDeadLetters compiles the redaction rules of every policy; a rule that does not compile is an error that names it.
func NewDeadLetters(options DeadLettersOptions) (*DeadLetters, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Observer == nil {
		options.Observer = job.Unobserved{}
	}
	if options.Logger == nil {
		options.Logger = zap.NewNop()
	}
	fallback, err := redaction.Compile(options.Policies.Default.Redaction)
	if err != nil {
		return nil, fmt.Errorf("default policy: %w", err)
	}
	d := &DeadLetters{options: options, fallback: fallback, redactors: map[job.Type]*redaction.Redactor{}}
	for t, policy := range options.Policies.ByType {
		if d.redactors[t], err = redaction.Compile(policy.Redaction); err != nil {
			return nil, fmt.Errorf("policy of job type %s: %w", t, err)
		}
	}
	return d, nil
}

func (d *DeadLetters) redactor(t job.Type) *redaction.Redactor {
	if own, ok := d.redactors[t]; ok {
		return own
	}
	return d.fallback
}

// RecordDeath makes the dead letter durable: record, failure and sealed payload in one transaction. It is idempotent
// by run: Temporal may call it any number of times.
func (d *DeadLetters) RecordDeath(ctx context.Context, notice job.DeathNotice) (job.Death, error) {
	payload, ref, err := d.payload(ctx, &notice)
	if err != nil {
		return job.Death{}, err
	}
	if err := d.blame(ctx, &notice); err != nil {
		return job.Death{}, err
	}
	letter := d.compose(notice, payload, ref)
	var sealed *job.SealedPayload
	if ref != "" && notice.PayloadRef == "" {
		s, err := d.options.Vault.Seal(ref, notice.ID, payload, d.options.Now().UTC())
		if err != nil {
			return job.Death{}, fmt.Errorf("seal the payload of %s: %w", letter.ID, err)
		}
		sealed = &s
	}
	if err := d.options.Store.RecordFailure(ctx, letter, sealed); err != nil {
		return job.Death{}, err
	}
	d.options.Observer.Finished(letter.Type, job.StateDeadLettered, letter.Log.Counted)
	d.options.Logger.Warn("job dead-lettered",
		zap.String("job_type", string(letter.Type)), zap.String("job_key", string(letter.Key)),
		zap.String("dead_letter_id", string(letter.ID)), zap.String("error_class", string(letter.Class)),
		zap.String("cause", string(letter.Cause)))
	if err := d.standing(ctx, &letter); err != nil { // the record is durable; a repetition finds it
		return job.Death{}, err
	}
	summary, details := page(letter)
	return job.Death{DeadLettered: current(letter), Summary: summary, Details: details}, nil
}

// payload reads what the run was started with: from its own first event, or, when it was given a reference, from the
// vault. A payload that is gone for good is no reason to lose the record, nor is an envelope that the run's build took and
// this one refuses: all of the input is the payload then.
func (d *DeadLetters) payload(ctx context.Context, n *job.DeathNotice) ([]byte, job.PayloadRef, error) {
	if n.PayloadRef != "" {
		payload, err := d.options.Vault.Open(ctx, n.PayloadRef, n.ID)
		if err != nil && !errors.Is(err, job.ErrPayloadGone) {
			return nil, "", fmt.Errorf("open payload %s: %w", n.PayloadRef, err)
		}
		return payload, n.PayloadRef, nil
	}
	started, err := history.Start(ctx, d.options.Client, n.WorkflowID, n.RunID)
	if err != nil {
		return nil, "", err
	}
	input, err := history.Input(started, d.options.DataConverter, converter.WorkflowSerializationContext{
		Namespace: n.Namespace, WorkflowID: n.WorkflowID,
	})
	if errors.Is(err, job.ErrPayloadGone) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	if !n.Unparsed {
		if envelope, err := job.ParseEnvelope(input); err == nil {
			input = envelope.Payload
		} else {
			n.Unparsed = true
		}
	}
	if len(input) == 0 {
		return nil, "", nil
	}
	return input, job.NewPayloadRef(n.Namespace, n.RunID), nil
}

// blame tells a job whose lane nobody polls from one that merely waited too long.
func (d *DeadLetters) blame(ctx context.Context, n *job.DeathNotice) error {
	if !n.NeverStarted {
		return nil
	}
	queue, err := d.options.Client.DescribeTaskQueue(ctx, n.ID.Type.Lane(), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return fmt.Errorf("describe lane %s: %w", n.ID.Type.Lane(), err)
	}
	if len(queue.GetPollers()) == 0 {
		n.Class = job.ClassUnknownJobType
		n.Message = "the deadline passed and no worker polls " + n.ID.Type.Lane()
	}
	return nil
}

func (d *DeadLetters) compose(n job.DeathNotice, payload []byte, ref job.PayloadRef) job.DeadLetter {
	redactor := d.redactor(n.ID.Type)
	redacted := redactor.Payload(payload)
	message := fitting(redactor.Text(n.Message, redactor.Taint(payload)))
	fingerprint := n.Report.Fingerprint
	if fingerprint == "" {
		fingerprint = job.Fingerprint(n.ID.Type, n.Class, message)
	}
	letter := job.DeadLetter{
		ID: job.NewDeadLetterID(n.Namespace, n.ID), Namespace: n.Namespace, KeyID: n.ID, Subject: n.Subject, Tags: n.Tags,
		State: job.StateDeadLettered, UpdatedAt: n.StoppedAt,
		KeepUntil: n.StoppedAt.Add(d.options.Policies.For(n.ID.Type).Retention),
		FailureRecord: job.FailureRecord{
			WorkflowID: n.WorkflowID, RunID: n.RunID, SchemaVersion: n.SchemaVersion, Version: n.Report.Version,
			Class: n.Class, Cause: n.Cause, Message: message, Fingerprint: fingerprint, Log: n.Report.Log,
			FirstFailure: n.StoppedAt, LastFailure: n.StoppedAt, PayloadRef: ref,
		},
	}
	if n.Unparsed {
		letter.PayloadRef = "" // what was sent is in the vault, but it is no payload that a handler could take
	}
	if len(payload) > 0 {
		letter.RedactedPayload, letter.Redaction = redacted.JSON, redactionReport(redacted.Report)
		if redacted.Report.Withheld {
			d.options.Observer.Withheld(n.ID.Type, string(redacted.Report.Reason))
		}
	}
	if n.Replay != nil {
		letter.Replay = n.Replay.Number
	}
	if entries := n.Report.Log.Entries; len(entries) > 0 {
		first, last := entries[0], entries[len(entries)-1]
		letter.FirstFailure = earlier(first.Started.Add(first.Ran), n.StoppedAt)
		letter.LastFailure = earlier(last.Started.Add(last.Ran), n.StoppedAt)
	}
	if definition, ok := d.options.Registry.Definition(n.ID.Type); ok {
		letter.Owner, letter.Runbook = definition.Owner, definition.Runbook
	}
	return letter
}

// earlier keeps a worker whose clock runs ahead from dating a failure after the workflow knew of it: the newest failure
// is found by its date.
func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}

func redactionReport(r redaction.Report) *job.RedactionReport {
	return &job.RedactionReport{
		Fields: r.Fields, Values: r.Values, ByRule: r.ByRule, Withheld: r.Withheld, Reason: string(r.Reason),
		Counts: r.Counts, Bytes: r.Bytes, Layers: r.Layers, Policy: r.Policy, Engine: r.Engine,
	}
}

// current is the part of a record that travels in errors and signals.
func current(letter job.DeadLetter) job.DeadLettered {
	return job.DeadLettered{
		DeadLetterID: letter.ID, Class: letter.Class, Cause: letter.Cause, Attempts: letter.Log.Counted,
		Fingerprint: letter.Fingerprint, Version: letter.Version, Versions: letter.Log.Versions, RunID: letter.RunID,
		PayloadRef: letter.PayloadRef, SchemaVersion: letter.SchemaVersion, FailedAt: letter.LastFailure,
	}
}
