package job_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// position is a state as a handler keeps it.
type position struct {
	Row int `json:"row"`
}

// keeper is a lease that nobody extends.
type keeper struct {
	state   json.RawMessage
	reports int
}

func (k *keeper) Progress(state json.RawMessage) {
	k.reports++
	if state != nil {
		k.state = state
	}
}

func (k *keeper) Resume() json.RawMessage { return k.state }

func TestLease(t *testing.T) {
	t.Parallel()
	t.Run("KeepsTheLastState", func(t *testing.T) {
		t.Parallel()
		k := &keeper{}
		lease := job.LeaseFrom(job.WithLease(t.Context(), k))
		var got position
		found, err := lease.Resume(&got)
		require.NoError(t, err)
		require.False(t, found)
		require.NoError(t, lease.Progress(position{Row: 7}))
		require.NoError(t, lease.Progress(nil), "only says that the work goes on")
		found, err = lease.Resume(&got)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, position{Row: 7}, got)
		require.Equal(t, 2, k.reports)
	})
	t.Run("RefusesWhatCannotBeKept", func(t *testing.T) {
		t.Parallel()
		k := &keeper{state: json.RawMessage(`{"row":7}`)}
		lease := job.LeaseFrom(job.WithLease(t.Context(), k))
		err := lease.Progress(strings.Repeat("x", job.MaxProgressBytes))
		require.ErrorContains(t, err, "the state is 16386 bytes, at most 16384 are kept")
		class, _ := job.Classify(err, nil)
		require.Equal(t, job.ClassHandlerDefect, class)
		require.ErrorContains(t, lease.Progress(func() {}), "func() does not encode to JSON")
		require.JSONEq(t, `{"row":7}`, string(k.state), "the last state stays")
		var into []string
		_, err = lease.Resume(&into)
		require.ErrorContains(t, err, "does not decode into *[]string")
	})
	t.Run("IsInertOutsideAnAttempt", func(t *testing.T) {
		t.Parallel()
		lease := job.LeaseFrom(context.Background())
		require.NoError(t, lease.Progress(position{Row: 7}))
		found, err := lease.Resume(new(position))
		require.NoError(t, err)
		require.False(t, found)
	})
}
