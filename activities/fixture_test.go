package activities_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	sdktestsuite "go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"google.golang.org/protobuf/proto"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

const (
	orderType = job.Type("email.send")
	secret    = "hunter2-Zebra-9931"
	build     = "v1.4.0"
)

// start is the clock of every runner here.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture runs single attempts of one handler behind the boundary, as a worker would.
type fixture struct {
	*sdktestsuite.TestActivityEnvironment
	zap *observer.ObservedLogs
	sdk *lines
}

func newFixture[P any](t *testing.T, options activities.RunnerOptions, handle job.Handler[P], tune ...func(*job.Definition)) *fixture {
	t.Helper()
	definition := job.Definition{Type: orderType, Effects: job.EffectsNone, Owner: "team-billing"}
	for _, f := range tune {
		f(&definition)
	}
	var registry activities.Registry
	require.NoError(t, activities.Register(&registry, definition, handle))
	core, logs := observer.New(zapcore.DebugLevel)
	options.Logger = zap.New(core)
	if options.Version == "" {
		options.Version = build
	}
	if options.Worker == "" {
		options.Worker = "4711@host-a"
	}
	if options.Now == nil {
		options.Now = func() time.Time { return start }
	}
	runner, err := registry.Runner(orderType, options)
	require.NoError(t, err)
	f := &fixture{zap: logs, sdk: &lines{}}
	f.TestActivityEnvironment = newEnvironment(t, f.sdk)
	f.RegisterActivityWithOptions(runner.Run, activity.RegisterOptions{Name: string(orderType)})
	return f
}

// newEnvironment is the SDK's test environment with the boundary in front of every activity.
func newEnvironment(t *testing.T, logger *lines) *sdktestsuite.TestActivityEnvironment {
	t.Helper()
	boundary, err := activities.NewBoundary()
	require.NoError(t, err)
	var suite sdktestsuite.WorkflowTestSuite
	suite.SetLogger(logger)
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(20 * time.Second)
	env.SetWorkerOptions(sdkworker.Options{Interceptors: []interceptor.WorkerInterceptor{boundary}})
	return env
}

// assignment is a job with a password in its payload and generous limits.
func assignment(change ...func(*job.Assignment)) job.Assignment {
	a := job.Assignment{
		Envelope: job.Envelope{
			Type: orderType, Key: "order-1001.receipt", SchemaVersion: 1,
			Payload: json.RawMessage(`{"to":"a@example.org","password":"` + secret + `"}`),
		},
		Limits: job.DefaultPolicy().LimitsUntil(start, start.Add(24*time.Hour)),
	}
	for _, f := range change {
		f(&a)
	}
	return a
}

// verdict is an attempt's failure as Temporal has it.
type verdict struct {
	job.Failure
	encoded *failurepb.Failure
}

// fail runs one attempt, which must fail, and checks what holds for every failure.
func (f *fixture) fail(t *testing.T, a job.Assignment) verdict {
	t.Helper()
	_, err := f.ExecuteActivity(string(orderType), a)
	return readVerdict(t, err)
}

func readVerdict(t *testing.T, err error) verdict {
	t.Helper()
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app, "an attempt's error is one ApplicationError, got %T", err)
	class := job.Class(app.Type())
	require.True(t, class.Known(), "type %q is not a class", app.Type())
	v := verdict{encoded: temporal.GetDefaultFailureConverter().ErrorToFailure(app)}
	v.Class, v.Message, v.Final, v.Delay = class, app.Message(), app.NonRetryable(), app.NextRetryDelay()
	v.Benign = app.Category() == temporal.ApplicationErrorCategoryBenign
	require.NoError(t, app.Details(&v.Report))
	require.LessOrEqual(t, len(v.Message), job.MaxMessageBytes)
	require.True(t, strings.ToValidUTF8(v.Message, "") == v.Message, "message is not valid UTF-8: %q", v.Message)
	require.LessOrEqual(t, proto.Size(v.encoded), 4096, "the server replaces larger failures")
	require.LessOrEqual(t, proto.Size(encrypted(t, app)), 4096, "also when it is encrypted for the longest key")
	require.Nil(t, v.encoded.GetCause(), "an attempt's failure has no cause")
	return v
}

// longest is the context of a job whose type and key are as long as they may be, and protected a client that encrypts.
var longest = converter.WorkflowSerializationContext{WorkflowID: "job:" + strings.Repeat("t", 64) + ":" + strings.Repeat("k", 176)}

func protected(t *testing.T) client.Options {
	t.Helper()
	keys, err := vault.GenerateKeyset()
	require.NoError(t, err)
	return vault.Protect(client.Options{}, keys)
}

// encrypted is a failure as an encrypting worker sends it.
func encrypted(t *testing.T, err error) *failurepb.Failure {
	t.Helper()
	return converter.WithFailureConverterSerializationContext(protected(t).FailureConverter, longest).ErrorToFailure(err)
}

// requireFits fails when the server would not take what the Web UI shows, encrypted.
func requireFits(t *testing.T, death job.Death) {
	t.Helper()
	data := converter.WithDataConverterSerializationContext(protected(t).DataConverter, longest)
	for text, limit := range map[string]int{death.Summary: 400, death.Details: 20_000} {
		p, err := data.ToPayload(text)
		require.NoError(t, err)
		require.LessOrEqual(t, proto.Size(p), limit, text)
	}
}

// search fails when what was planted shows up in the failure, in zap's entries or in the SDK's log.
func (f *fixture) search(t *testing.T, v verdict, planted string) {
	t.Helper()
	require.NotContains(t, v.encoded.String(), planted, "failure")
	for _, payload := range v.encoded.GetApplicationFailureInfo().GetDetails().GetPayloads() {
		require.NotContains(t, string(payload.GetData()), planted, "failure details")
	}
	for _, entry := range f.zap.All() {
		require.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), planted, "zap")
	}
	require.NotContains(t, f.sdk.String(), planted, "SDK log")
}

// lines is a logger of the SDK that keeps everything.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) add(message string, keyvals []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, message, keyvals)
}

func (l *lines) Debug(message string, keyvals ...any) { l.add(message, keyvals) }
func (l *lines) Info(message string, keyvals ...any)  { l.add(message, keyvals) }
func (l *lines) Warn(message string, keyvals ...any)  { l.add(message, keyvals) }
func (l *lines) Error(message string, keyvals ...any) { l.add(message, keyvals) }

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

type anyPayload = map[string]any

// failing is a handler that returns what make returns.
func failing(make func() error) job.Handler[anyPayload] {
	return func(context.Context, anyPayload) (any, error) { return nil, make() }
}
