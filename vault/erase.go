package vault

import (
	"context"
	"errors"
	"fmt"

	"github.com/redrivehq/redrive/job"
)

// ErrInvalidErasure is wrapped when a request to erase does not say why, or has a text that is too long; nothing was erased.
var ErrInvalidErasure = errors.New("invalid erasure")

// ErasureStore is where a job's data is kept. It is safe for concurrent use.
type ErasureStore interface {
	// DeadLetter returns one with its lineage; an unknown id wraps job.ErrNotFound.
	DeadLetter(ctx context.Context, id job.DeadLetterID) (job.DeadLetter, error)
	// Erase makes a job's data unreadable, with a tombstone and an audit record, in one transaction. It is idempotent.
	Erase(ctx context.Context, namespace string, id job.KeyID, e job.Erasure, from string) (job.Erased, error)
	// OfSubject returns the jobs that are known to hold data about a subject.
	OfSubject(ctx context.Context, namespace, subject string) ([]job.KeyID, error)
}

// Runs are the job's runs in Temporal; *starter.Client has them. It is safe for concurrent use.
type Runs interface {
	// Open tells whether a run of the job is open.
	Open(ctx context.Context, id job.KeyID) (bool, error)
	// Stop cancels it and waits until it is closed, or ctx ends.
	Stop(ctx context.Context, id job.KeyID) error
	// DeleteRuns deletes the closed ones with their histories; known are run IDs it may not find by itself. It is idempotent.
	DeleteRuns(ctx context.Context, namespace string, id job.KeyID, known ...string) (deleted int, err error)
}

// Eraser erases jobs' data from everything that lasts. It is safe for concurrent use.
type Eraser struct {
	store     ErasureStore
	runs      Runs
	namespace string
}

// NewEraser returns one for the jobs of a namespace.
func NewEraser(store ErasureStore, runs Runs, namespace string) *Eraser {
	return &Eraser{store: store, runs: runs, namespace: namespace}
}

// ErasureRequest asks to erase.
type ErasureRequest struct {
	job.Erasure
	Cancel bool   // stop an open run first, instead of refusing
	From   string // the caller's address, for the audit log
}

func (r ErasureRequest) validate() error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidErasure, err)
	}
	return nil
}

// ErasedJob says what was done about one job.
type ErasedJob struct {
	ID           job.KeyID        `json:"id"`
	DeadLetterID job.DeadLetterID `json:"dead_letter_id"` // also where there is no such dead letter
	job.Erased
	Runs int `json:"runs"` // closed runs deleted from Temporal
	// Err says why the job's data is not erased, or not all of it; the same request may be sent again.
	Err error `json:"-"`
}

// Job erases the data of one job: what its store has, and the histories of its closed runs. The parked Replay stays, and
// refuses replays from then on. A job that has an open run wraps job.ErrJobOpen, and nothing was erased.
//
// The store comes first: should Temporal not answer, what lasts longest is gone already, and the same request deletes the
// rest. A run that is started at the same time is new data, and stays.
func (e *Eraser) Job(ctx context.Context, id job.KeyID, r ErasureRequest) ErasedJob {
	done := ErasedJob{ID: id, DeadLetterID: job.NewDeadLetterID(e.namespace, id)}
	if done.Err = r.validate(); done.Err != nil {
		return done
	}
	if done.Err = e.close(ctx, id, r.Cancel); done.Err != nil {
		return done
	}
	known, err := e.failedRuns(ctx, done.DeadLetterID)
	if err != nil {
		done.Err = err
		return done
	}
	if done.Erased, done.Err = e.store.Erase(ctx, e.namespace, id, r.Erasure, r.From); done.Err != nil {
		return done
	}
	done.Runs, done.Err = e.runs.DeleteRuns(ctx, e.namespace, id, known...)
	return done
}

func (e *Eraser) close(ctx context.Context, id job.KeyID, cancel bool) error {
	if cancel {
		return e.runs.Stop(ctx, id)
	}
	open, err := e.runs.Open(ctx, id)
	if err == nil && open {
		err = fmt.Errorf("erase %s: %w: wait for it, or cancel it first", id, job.ErrJobOpen)
	}
	return err
}

// failedRuns are those that the dead letter names.
func (e *Eraser) failedRuns(ctx context.Context, id job.DeadLetterID) ([]string, error) {
	letter, err := e.store.DeadLetter(ctx, id)
	if errors.Is(err, job.ErrNotFound) {
		return nil, nil
	}
	var runs []string
	for _, failure := range letter.Failures {
		if failure.WorkflowID == letter.JobWorkflowID() {
			runs = append(runs, failure.RunID)
		}
	}
	return runs, err
}

// DeadLetter is Job for the job of a dead letter; an unknown id wraps job.ErrNotFound.
func (e *Eraser) DeadLetter(ctx context.Context, id job.DeadLetterID, r ErasureRequest) ErasedJob {
	letter, err := e.store.DeadLetter(ctx, id)
	if err == nil && letter.Namespace != e.namespace {
		err = fmt.Errorf("erase %s: %w: it is another namespace's", id, job.ErrNotFound)
	}
	if err != nil {
		return ErasedJob{DeadLetterID: id, Err: err}
	}
	return e.Job(ctx, letter.KeyID, r)
}

// Subject is Job for every job that is known to hold data about a subject. One that cannot be erased does not keep the
// others from it.
func (e *Eraser) Subject(ctx context.Context, subject string, r ErasureRequest) ([]ErasedJob, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	ids, err := e.store.OfSubject(ctx, e.namespace, subject)
	if err != nil {
		return nil, err
	}
	done := make([]ErasedJob, 0, len(ids))
	for _, id := range ids {
		done = append(done, e.Job(ctx, id, r))
	}
	return done, nil
}
