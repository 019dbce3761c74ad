package telemetry

import (
	"fmt"
	"time"

	sdklog "go.temporal.io/sdk/log"
	"go.uber.org/zap"
)

// Temporal returns l in the form the Temporal SDK takes.
func Temporal(l *zap.Logger) sdklog.Logger { return temporalLogger{l.Sugar()} }

type temporalLogger struct{ sugar *zap.SugaredLogger }

// Debug logs at level debug.
func (l temporalLogger) Debug(message string, pairs ...any) { l.sugar.Debugw(message, plain(pairs)...) }

// Info logs at level info.
func (l temporalLogger) Info(message string, pairs ...any) { l.sugar.Infow(message, plain(pairs)...) }

// Warn logs at level warn.
func (l temporalLogger) Warn(message string, pairs ...any) { l.sugar.Warnw(message, plain(pairs)...) }

// Error logs at level error.
func (l temporalLogger) Error(message string, pairs ...any) { l.sugar.Errorw(message, plain(pairs)...) }

// With returns a logger that adds pairs to every line.
func (l temporalLogger) With(pairs ...any) sdklog.Logger {
	return temporalLogger{l.sugar.With(plain(pairs)...)}
}

// plain keeps values that say something by themselves and replaces the rest by their type: an input, a result or a
// failure that the SDK or a handler hands to the log would carry payload data into it.
func plain(pairs []any) []any {
	kept := make([]any, 0, len(pairs)+1)
	for _, value := range pairs {
		switch value.(type) {
		case nil, string, bool, int, int32, int64, uint, uint32, uint64, float64, time.Time, time.Duration, error:
			kept = append(kept, value)
		default:
			kept = append(kept, fmt.Sprintf("(%T)", value))
		}
	}
	if len(kept)%2 == 1 {
		kept = append(kept, nil) // else zap complains at a level of its own
	}
	return kept
}
