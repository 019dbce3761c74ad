package replay

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/redrivehq/redrive/job"
)

// ErrInvalidRequest is wrapped when a request lacks a field or has one that is too long; nothing was sent.
var ErrInvalidRequest = errors.New("invalid request")

// Store is where decisions are read. Both methods wrap job.ErrNotFound, and are safe for concurrent use.
type Store interface {
	DeadLetter(ctx context.Context, id job.DeadLetterID) (job.DeadLetter, error)
	Request(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, requestID string) (job.RequestRecord, error)
}

// Client sends requests and reads decisions. It is safe for concurrent use.
type Client struct {
	temporal client.Client
	store    Store
	data     converter.DataConverter // of a client that encrypts; nil of any other
}

// New returns a client; c and store stay the caller's to close. With a *worker.Client that encrypts, requests also end a
// Replay whose own key was destroyed, which no worker can continue.
func New(c client.Client, store Store) *Client {
	r := &Client{temporal: c, store: store}
	if own, ok := c.(interface {
		Encrypts() bool
		DataConverter() converter.DataConverter
	}); ok && own.Encrypts() {
		r.data = own.DataConverter()
	}
	return r
}

// Send makes a request durable and returns its id, which is made up when the request has none. Errors wrap
// ErrInvalidRequest or job.ErrNotFound; after any other, the same request with the same id may be sent again.
func (c *Client) Send(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, r job.Request) (requestID string, err error) {
	if err := r.Validate(kind); err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalidRequest, err)
	}
	letter, err := c.store.DeadLetter(ctx, id)
	if err != nil {
		return "", err
	}
	if r.RequestID == "" {
		r.RequestID = newRequestID()
	}
	if c.data != nil {
		if err := c.release(ctx, letter.KeyID); err != nil {
			return r.RequestID, fmt.Errorf("%s %s: %w", kind, id, err)
		}
	}
	_, err = c.temporal.SignalWithStartWorkflow(ctx, letter.ReplayWorkflowID(), string(kind), r, client.StartWorkflowOptions{
		TaskQueue:             job.QueueWorkflows,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         fmt.Sprintf("%s (%s)", letter.Class, letter.Cause),
		Priority:              temporal.Priority{PriorityKey: 2},
	}, job.WorkflowReplay, job.ReplayInput{DeadLetterID: letter.ID, ID: letter.KeyID})
	if err != nil {
		return r.RequestID, fmt.Errorf("%s %s: %w", kind, id, err)
	}
	return r.RequestID, nil
}

func newRequestID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails: it crashes the process instead (crypto/rand)
	return "req-" + hex.EncodeToString(b[:])
}

// pollEvery is how often the store is asked while somebody waits.
const pollEvery = 200 * time.Millisecond

// Await returns the decision on a request once Replay has recorded it, or ctx's error.
func (c *Client) Await(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, requestID string) (job.Decision, error) {
	var decision job.Decision
	err := poll(ctx, func() (bool, error) {
		record, err := c.store.Request(ctx, id, kind, requestID)
		if errors.Is(err, job.ErrNotFound) {
			return false, nil
		}
		decision = job.Decision{
			Kind: kind, RequestID: record.RequestID, DeadLetterID: id, Accepted: record.Accepted, Replay: record.Replay, Refusal: record.Refusal,
		}
		return err == nil, err
	})
	if err != nil {
		return job.Decision{}, fmt.Errorf("await the decision on %s: %w", requestID, err)
	}
	return decision, nil
}

// AwaitOutcome returns the record of a replay once it has an outcome, or ctx's error.
func (c *Client) AwaitOutcome(ctx context.Context, id job.DeadLetterID, number int) (job.ReplayRecord, error) {
	var found job.ReplayRecord
	err := poll(ctx, func() (bool, error) {
		letter, err := c.store.DeadLetter(ctx, id)
		if err != nil {
			return false, err
		}
		for _, record := range letter.History {
			if record.Number == number && record.FinishedAt != nil {
				found = record
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return job.ReplayRecord{}, fmt.Errorf("await the outcome of replay %d of %s: %w", number, id, err)
	}
	return found, nil
}

func poll(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
