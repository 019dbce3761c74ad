package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// stuck is a replay without an outcome.
type stuck struct{}

func (stuck) AwaitOutcome(ctx context.Context, _ job.DeadLetterID, _ int) (job.ReplayRecord, error) {
	<-ctx.Done()
	return job.ReplayRecord{}, ctx.Err()
}

// TestAwaitOutcomeEnds: waiting ends before the replay does, and says how to look.
func TestAwaitOutcomeEnds(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	env := &environment{stderr: &stderr}
	_, err := env.awaitOutcome(t.Context(), stuck{}, "dl_a", 2, time.Millisecond)
	require.ErrorIs(t, err, errStillRunning)
	require.EqualError(t, err, "replay 2 is still running after 1ms and goes on; look with `redrive dead-letters show dl_a`")
	require.Equal(t, exitFailed, exitCode(err))

	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = env.awaitOutcome(interrupted, stuck{}, "dl_a", 2, time.Minute)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, errStillRunning)
}
