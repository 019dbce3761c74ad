package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// handedBack is the answer of a build that may not run the replay. The wait is the server's, whatever was asked for: it
// moves retry timers by about a second.
func handedBack(version string) error {
	return wire.Encode(&job.Failure{
		Class: job.ClassTransient, Delay: time.Second, Report: job.Report{Version: version, HandedBack: "version"},
	})
}

// Whichever worker polls first answers a probe, so the repaired one beside many old ones may be met late.
func TestProbeFindsTheRepairedBuildAmongOldOnes(t *testing.T) {
	t.Parallel()
	f := newReplay(t)
	asked := 0
	f.probe = func(job.VersionRule) (string, error) {
		if asked++; asked <= 30 {
			return "", handedBack("v1")
		}
		return "v2", nil
	}
	f.handler(func(job.Assignment) (json.RawMessage, error) { return nil, nil })
	f.at(time.Second, "replay", map[string]any{"actor": "ada", "reason": "fixed"})
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Len(t, f.requests, 1)
	require.True(t, f.requests[0].Accepted, "%+v", f.requests[0].Refusal)
}

func TestProbeAsksOnceWhereOneBuildIsLive(t *testing.T) {
	t.Parallel()
	f := newReplay(t)
	asked := 0
	f.probe = func(job.VersionRule) (string, error) { asked++; return "v2", nil }
	f.handler(func(job.Assignment) (json.RawMessage, error) { return nil, nil })
	f.at(time.Second, "replay", map[string]any{"actor": "ada", "reason": "fixed"})
	f.runReplay()
	require.NoError(t, f.GetWorkflowError())
	require.Equal(t, 1, asked)
}

// The refusal says what was seen, and no more.
func TestProbeRefusalSaysWhatAnswered(t *testing.T) {
	t.Parallel()
	f := newReplay(t)
	asked := 0
	f.probe = func(job.VersionRule) (string, error) {
		asked++
		return "", handedBack([]string{"v1", "v0"}[asked%2])
	}
	f.at(time.Second, "replay", map[string]any{"actor": "ada", "reason": "fixed"})
	f.RegisterDelayedCallback(f.CancelWorkflow, time.Minute)
	f.runReplay()
	require.Equal(t, job.RefusedVersionUnchanged, refusalOf(t, f.requests[0]))
	require.Contains(t, f.requests[0].Refusal.Detail, "no repaired version answered within 4s; v0, v1 did")
}
