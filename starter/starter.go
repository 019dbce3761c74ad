package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// ErrInvalidOptions is wrapped by every refusal of EnqueueOptions.
var ErrInvalidOptions = errors.New("invalid enqueue options")

// ErrNotRunning is wrapped when a job that has ended should be canceled.
var ErrNotRunning = errors.New("job is not running")

// Options configure a Client.
type Options struct {
	// DataConverter must be the workers'. Default: the client's, if it is a *worker.Client, else the SDK's.
	DataConverter converter.DataConverter
	// Vault takes payloads that are too large for Temporal, or that Sensitive wants. Nil: they are refused.
	Vault Vault
	// Sensitive names the job types whose payloads always go through the vault. Nil: none.
	Sensitive func(t job.Type) bool
	// Screen looks for a secret or personal data in a key and names the rule that found one; a key becomes part of
	// plaintext workflow IDs. Nil: not screened.
	Screen func(key string) (rule string, found bool)
	// Logger. Default: none.
	Logger *zap.Logger
}

// Vault keeps payloads encrypted, apart from Temporal; *vault.Vault is one. It is safe for concurrent use.
type Vault interface {
	// Put stores a payload under a reference that is new. The subject is whom it is about, and may be empty.
	Put(ctx context.Context, ref job.PayloadRef, id job.KeyID, subject string, payload []byte) error
	// Open returns the payload of a reference; the error wraps job.ErrPayloadGone when it is gone for good.
	Open(ctx context.Context, ref job.PayloadRef, id job.KeyID) ([]byte, error)
	// Erase drops the payload of a reference.
	Erase(ctx context.Context, ref job.PayloadRef) error
}

// Client enqueues jobs, waits for them and cancels them. It is safe for concurrent use.
type Client struct {
	temporal client.Client
	options  Options

	mu    sync.Mutex
	lanes map[job.Type]laneCheck // what was last seen of each lane
}

// New returns a client; c stays the caller's to close.
func New(c client.Client, options Options) *Client {
	if own, ok := c.(interface {
		DataConverter() converter.DataConverter
	}); ok && options.DataConverter == nil {
		options.DataConverter = own.DataConverter()
	}
	if options.DataConverter == nil {
		options.DataConverter = converter.GetDefaultDataConverter()
	}
	if options.Logger == nil {
		options.Logger = zap.NewNop()
	}
	return &Client{temporal: c, options: options, lanes: map[job.Type]laneCheck{}}
}

// EnqueueOptions of one job. The zero value is an ordinary job that starts at once.
type EnqueueOptions struct {
	SchemaVersion int           // of the payload; default 1
	Delay         time.Duration // before the job starts
	Deadline      time.Time     // absolute; default: the policy's, counted from the start
	Priority      int           // 1 (first) to 5; default 3
	Subject       string        // opaque id of the person the data is about
	Tags          []string
	// Vault sends the payload through the vault, whatever its size and type.
	Vault bool
}

// Enqueued is a job that exists, started by this call or by an earlier one.
type Enqueued struct {
	ID         job.KeyID `json:"id"`
	WorkflowID string    `json:"workflow_id"`
	RunID      string    `json:"run_id"`
	// Duplicate is true when the key was known: nothing was started, and State says where that job stands. It is empty, and
	// Warning says so, when that job was ended from outside (ErrUnrecorded).
	Duplicate bool      `json:"duplicate"`
	State     job.State `json:"state"`
	// Warning says what will keep the job waiting: no worker polls its lane, or its run was ended from outside.
	Warning string `json:"warning,omitempty"`
}

// Enqueue encodes payload as JSON and starts the job, or finds the one that has the key. Errors: *ConflictError when
// the key is known with another payload; wrapping job.ErrInvalidKey, job.ErrInvalidEnvelope or ErrInvalidOptions when
// nothing was started because of what was given; otherwise the job may or may not exist, and the call may be repeated.
func Enqueue[P any](ctx context.Context, c *Client, t job.Type, key job.Key, payload P, o EnqueueOptions) (Enqueued, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return Enqueued{}, c.refuse(job.KeyID{Type: t, Key: key}, fmt.Errorf(
			"%w: the payload has no JSON form (%T)", job.ErrInvalidEnvelope, payload))
	}
	return c.Start(ctx, job.Envelope{Type: t, Key: key, Payload: raw}, o)
}

// Start is Enqueue for an envelope that exists already. Fields of o that are set replace the envelope's.
func (c *Client) Start(ctx context.Context, e job.Envelope, o EnqueueOptions) (Enqueued, error) {
	given := e.Payload
	e, err := c.prepare(e, o)
	if err != nil {
		return Enqueued{}, c.refuse(e.ID(), err)
	}
	id := e.ID()
	if e.PayloadRef != "" && len(given) > 0 {
		if err := c.options.Vault.Put(ctx, e.PayloadRef, id, e.Subject, given); err != nil {
			return Enqueued{}, fmt.Errorf("enqueue %s: %w", id, err)
		}
	}
	run, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                                       id.JobWorkflowID(),
		TaskQueue:                                job.QueueWorkflows,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StartDelay:                               o.Delay,
		Priority:                                 temporal.Priority{PriorityKey: o.Priority, FairnessKey: string(e.Type)},
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(job.AttrJobType).ValueSet(string(e.Type))),
	}, job.WorkflowJob, e)
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &started):
		if e.PayloadRef != "" && len(given) > 0 { // nobody will ever ask for this copy
			if err := c.options.Vault.Erase(ctx, e.PayloadRef); err != nil {
				c.options.Logger.Warn("a copy of a payload stays in the vault", zap.String("payload_ref", string(e.PayloadRef)), zap.Error(err))
			}
			e.Payload, e.PayloadRef = given, ""
		}
		return c.existing(ctx, e, started.RunId)
	case err != nil:
		return Enqueued{}, fmt.Errorf("enqueue %s: %w", id, err)
	}
	return Enqueued{
		ID: id, WorkflowID: id.JobWorkflowID(), RunID: run.GetRunID(), State: job.StateRunning,
		Warning: c.laneWarning(ctx, e.Type),
	}, nil
}

// refuse names the job in a refusal, unless its identity is not fit to be repeated: invalid, or a key with a secret.
func (c *Client) refuse(id job.KeyID, err error) error {
	if id.Validate() != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	if c.options.Screen != nil {
		if _, found := c.options.Screen(string(id.Key)); found {
			return fmt.Errorf("enqueue %s:(withheld): %w", id.Type, err)
		}
	}
	return fmt.Errorf("enqueue %s: %w", id, err)
}

// prepare merges options into the envelope and refuses what cannot become a job.
func (c *Client) prepare(e job.Envelope, o EnqueueOptions) (job.Envelope, error) {
	e.Replay = nil // only a key's own Replay workflow may say so
	if o.SchemaVersion != 0 {
		e.SchemaVersion = o.SchemaVersion
	}
	if e.SchemaVersion == 0 {
		e.SchemaVersion = 1
	}
	if o.Subject != "" {
		e.Subject = o.Subject
	}
	if len(o.Tags) > 0 {
		e.Tags = o.Tags
	}
	if !o.Deadline.IsZero() {
		deadline := o.Deadline.UTC()
		e.Deadline = &deadline
	}
	e, err := c.divert(e, o)
	if err != nil {
		return e, err
	}
	if err := e.Validate(); err != nil {
		return e, err
	}
	if c.options.Screen != nil {
		if rule, found := c.options.Screen(string(e.Key)); found {
			return e, fmt.Errorf("%w: the key looks like %s; keys stand in plaintext workflow IDs, use an opaque one",
				job.ErrInvalidKey, rule)
		}
	}
	switch {
	case o.Priority < 0 || o.Priority > 5:
		return e, fmt.Errorf("%w: priority %d, allowed are 1 (first) to 5, or 0 for the default", ErrInvalidOptions, o.Priority)
	case o.Delay < 0:
		return e, fmt.Errorf("%w: delay %s is negative", ErrInvalidOptions, o.Delay)
	case e.Deadline != nil && !e.Deadline.After(time.Now().Add(o.Delay)):
		return e, fmt.Errorf("%w: deadline %s is not after the start of the job", ErrInvalidOptions, e.Deadline.Format(time.RFC3339))
	}
	return e, nil
}

// Cancel asks a running job to stop; its handler is told with the next heartbeat. A key that is unknown wraps
// job.ErrNotFound, a job that is not running ErrNotRunning: Temporal itself takes such a request in silence.
func (c *Client) Cancel(ctx context.Context, id job.KeyID) error {
	run, err := c.describe(ctx, id.JobWorkflowID())
	if err != nil {
		return fmt.Errorf("cancel %s: %w", id, err)
	}
	if run.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return fmt.Errorf("cancel %s: %w", id, ErrNotRunning)
	}
	if err := c.temporal.CancelWorkflow(ctx, id.JobWorkflowID(), run.WorkflowExecution.RunID); err != nil {
		return fmt.Errorf("cancel %s: %w", id, err)
	}
	return nil
}
