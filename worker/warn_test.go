package worker_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// warnings are what a worker with these options warns of until it polls.
func warnings(t *testing.T, options worker.Options) []observer.LoggedEntry {
	t.Helper()
	core, logs := observer.New(zapcore.WarnLevel)
	options.Logger = zap.New(core)
	w, err := worker.New(dial(t, func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }), options)
	require.NoError(t, err)
	require.NoError(t, w.Start(t.Context()))
	w.Stop()
	return logs.All()
}

func TestWarnsOfABuildWithoutAVersion(t *testing.T) {
	t.Parallel()
	h := handlers(t, map[job.Type]job.Policy{"email.send": {}})
	said := warnings(t, worker.Options{Handlers: h, HandlerVersion: worker.Unversioned})
	require.Len(t, said, 1)
	require.Contains(t, said[0].Message, "set Options.HandlerVersion")
	require.Empty(t, warnings(t, worker.Options{Handlers: h, HandlerVersion: "v1"}))
}

func TestWarnsOfAPolicyThatIsNotUsed(t *testing.T) {
	t.Parallel()
	h := handlers(t, map[job.Type]job.Policy{"email.send": {MaxAttempts: 3}, "sms.send": {}})
	said := warnings(t, worker.Options{Handlers: h, HandlerVersion: "v1"})
	require.Len(t, said, 1)
	require.Equal(t, "email.send", said[0].ContextMap()["job_type"])
}
