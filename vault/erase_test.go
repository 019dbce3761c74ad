package vault_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

// erasures stands for the store and for Temporal: it records what it is asked, in order, and fails on demand.
type erasures struct {
	letters map[job.DeadLetterID]job.DeadLetter
	subject []job.KeyID
	open    map[job.KeyID]bool
	fail    string // the call that fails
	calls   []string
	asked   []job.Erasure
	from    string
	known   []string
}

var errStoreDown = errors.New("down")

func (f *erasures) call(name string, id job.KeyID) error {
	f.calls = append(f.calls, name+" "+string(id.Key))
	if f.fail == name {
		return errStoreDown
	}
	return nil
}

func (f *erasures) DeadLetter(_ context.Context, id job.DeadLetterID) (job.DeadLetter, error) {
	letter, known := f.letters[id]
	if !known {
		return letter, job.ErrNotFound
	}
	return letter, nil
}

func (f *erasures) Erase(_ context.Context, _ string, id job.KeyID, e job.Erasure, from string) (job.Erased, error) {
	f.asked, f.from = append(f.asked, e), from
	return job.Erased{Payloads: 1}, f.call("erase", id)
}

func (f *erasures) OfSubject(context.Context, string, string) ([]job.KeyID, error) {
	return f.subject, f.call("subject", job.KeyID{})
}

func (f *erasures) Open(_ context.Context, id job.KeyID) (bool, error) {
	return f.open[id], f.call("open", id)
}

func (f *erasures) Stop(_ context.Context, id job.KeyID) error { return f.call("stop", id) }

func (f *erasures) DeleteRuns(_ context.Context, _ string, id job.KeyID, known ...string) (int, error) {
	f.known = known
	return 2, f.call("delete", id)
}

func because(reason string) vault.ErasureRequest {
	return vault.ErasureRequest{Erasure: job.Erasure{Actor: "ada", Reason: reason}, From: "10.0.0.1"}
}

func TestPrivacyErase(t *testing.T) {
	t.Parallel()
	id := job.KeyID{Type: "email.send", Key: "a"}
	letterID := job.NewDeadLetterID("prod", id)
	letter := job.DeadLetter{ID: letterID, Namespace: "prod", KeyID: id, Failures: []job.FailureRecord{
		{WorkflowID: id.JobWorkflowID(), RunID: "run-1"}, {WorkflowID: "stray", RunID: "run-2"},
	}}

	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		f := &erasures{letters: map[job.DeadLetterID]job.DeadLetter{letterID: letter}}
		done := vault.NewEraser(f, f, "prod").DeadLetter(t.Context(), letterID, because("why"))
		require.Equal(t, vault.ErasedJob{ID: id, DeadLetterID: letterID, Erased: job.Erased{Payloads: 1}, Runs: 2}, done)
		require.Equal(t, []string{"open a", "erase a", "delete a"}, f.calls)
		require.Equal(t, []string{"run-1"}, f.known)
		require.Equal(t, []job.Erasure{because("why").Erasure}, f.asked)
		require.Equal(t, "10.0.0.1", f.from)
	})
	t.Run("OpenIsRefused", func(t *testing.T) {
		t.Parallel()
		f := &erasures{open: map[job.KeyID]bool{id: true}}
		require.ErrorIs(t, vault.NewEraser(f, f, "prod").Job(t.Context(), id, because("why")).Err, job.ErrJobOpen)
		require.Equal(t, []string{"open a"}, f.calls)
	})
	t.Run("CanceledFirst", func(t *testing.T) {
		t.Parallel()
		f := &erasures{}
		request := because("why")
		request.Cancel = true
		require.NoError(t, vault.NewEraser(f, f, "prod").Job(t.Context(), id, request).Err)
		require.Equal(t, []string{"stop a", "erase a", "delete a"}, f.calls)
	})
	t.Run("NoReason", func(t *testing.T) {
		t.Parallel()
		for _, reason := range []string{"", " ", strings.Repeat("x", job.MaxReasonBytes+1)} {
			f := &erasures{subject: []job.KeyID{id}}
			eraser := vault.NewEraser(f, f, "prod")
			require.ErrorIs(t, eraser.Job(t.Context(), id, because(reason)).Err, vault.ErrInvalidErasure)
			_, err := eraser.Subject(t.Context(), "u", because(reason))
			require.ErrorIs(t, err, vault.ErrInvalidErasure)
			require.Empty(t, f.calls)
		}
	})
	t.Run("OtherNamespace", func(t *testing.T) {
		t.Parallel()
		f := &erasures{letters: map[job.DeadLetterID]job.DeadLetter{letterID: letter}}
		require.ErrorIs(t, vault.NewEraser(f, f, "test").DeadLetter(t.Context(), letterID, because("why")).Err, job.ErrNotFound)
		require.Empty(t, f.calls)
	})
	for _, step := range []string{"open", "erase", "delete"} {
		t.Run("Fails/"+step, func(t *testing.T) {
			t.Parallel()
			f := &erasures{fail: step}
			require.ErrorIs(t, vault.NewEraser(f, f, "prod").Job(t.Context(), id, because("why")).Err, errStoreDown)
			require.Equal(t, step+" a", f.calls[len(f.calls)-1], "nothing comes after the failure")
		})
	}
	t.Run("SubjectReportsEachJob", func(t *testing.T) {
		t.Parallel()
		busy := job.KeyID{Type: "email.send", Key: "busy"}
		f := &erasures{subject: []job.KeyID{busy, id}, open: map[job.KeyID]bool{busy: true}}
		done, err := vault.NewEraser(f, f, "prod").Subject(t.Context(), "u", because("why"))
		require.NoError(t, err)
		require.Len(t, done, 2)
		require.ErrorIs(t, done[0].Err, job.ErrJobOpen)
		require.NoError(t, done[1].Err)
		require.Equal(t, []string{"subject ", "open busy", "open a", "erase a", "delete a"}, f.calls)
	})
}
