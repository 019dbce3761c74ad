package telemetry_test

import (
	"os"

	"go.uber.org/zap"

	"github.com/redrivehq/redrive/telemetry"
)

// The program's log and the SDK's are one. In a service, the writer is os.Stderr and client.Options takes the adapter.
func Example() {
	logger, err := telemetry.NewLogger(os.Stdout, "warn", "json")
	if err != nil {
		panic(err)
	}
	adapted := telemetry.Temporal(logger.WithOptions(zap.WithClock(fixed{})))
	adapted.Info("Started Worker")
	adapted.Warn("Activity task timed out", "Attempt", 2, "Input", []byte("payload data"))
	// Output:
	// {"level":"warn","time":"2026-05-01T12:00:00Z","msg":"Activity task timed out","Attempt":2,"Input":"([]uint8)"}
}
