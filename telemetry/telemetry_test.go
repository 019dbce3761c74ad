package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	sdklog "go.temporal.io/sdk/log"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/telemetry"
)

func TestNewLogger(t *testing.T) {
	t.Parallel()

	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		logger, err := telemetry.NewLogger(&out, "warn", "json")
		require.NoError(t, err)
		logger.Info("hidden")
		logger.Warn("job put off", zap.String("job_key", "a\x1b[2Jb"), zap.Duration("delay", time.Minute))
		var line map[string]any
		require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
		require.Equal(t, "job put off", line["msg"])
		require.Equal(t, "1m0s", line["delay"])
		_, err = time.Parse(time.RFC3339Nano, line["time"].(string))
		require.NoError(t, err)
	})

	t.Run("ConsoleEscapesControlCharacters", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		logger, err := telemetry.NewLogger(&out, "", "")
		require.NoError(t, err)
		logger.Info("job put off", zap.String("job_key", "a\x1b[2Jb\nc"))
		require.NotContains(t, out.String(), "\x1b")
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
	})

	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		_, err := telemetry.NewLogger(nil, "loud", "")
		require.EqualError(t, err, `log level "loud", allowed are debug, info, warn and error`)
		_, err = telemetry.NewLogger(nil, "panic", "") // zap knows it, redrive does not use it
		require.EqualError(t, err, `log level "panic", allowed are debug, info, warn and error`)
		_, err = telemetry.NewLogger(nil, "", "xml")
		require.EqualError(t, err, `log format "xml", allowed are console and json`)
	})
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger, err := telemetry.NewLogger(&out, "debug", "json")
	require.NoError(t, err)

	adapted := telemetry.Temporal(logger)
	adapted = adapted.(sdklog.WithLogger).With("Namespace", "default")
	adapted.Debug("a", "Attempt", int32(2))
	adapted.Info("b", "Payload", []byte("canary"), "Payloads", &commonpb.Payloads{
		Payloads: []*commonpb.Payload{{Data: []byte("canary")}},
	})
	adapted.Warn("c", "Error", errors.New("scrubbed"), struct{ canary string }{"canary"}, "x")
	adapted.Error("d", "dangling")

	require.Equal(t, 4, bytes.Count(out.Bytes(), []byte("\n")), out.String())
	require.Equal(t, 4, bytes.Count(out.Bytes(), []byte(`"Namespace":"default"`)))
	require.Contains(t, out.String(), `"Attempt":2`)
	require.Contains(t, out.String(), `"Payload":"([]uint8)"`)
	require.Contains(t, out.String(), `"Error":"scrubbed"`)
	require.NotContains(t, out.String(), "canary\"}")
	require.NotContains(t, out.String(), `"canary"`)
}

// fixed is a clock that stands still.
type fixed struct{}

func (fixed) Now() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func (fixed) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }
