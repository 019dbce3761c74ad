package telemetry

import (
	"fmt"
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// LogOptions configure NewLogger. The zero value is the documented default.
type LogOptions struct {
	Level  string // debug, info, warn or error; default info
	Format string // console or json; default console
}

// NewLogger returns a logger that writes to out. It never samples: a job that is put off a thousand times is said a
// thousand times.
func NewLogger(out io.Writer, options LogOptions) (*zap.Logger, error) {
	if options.Level == "" {
		options.Level = "info"
	}
	level, err := zapcore.ParseLevel(options.Level)
	if err != nil {
		return nil, fmt.Errorf("log level %q, allowed are debug, info, warn and error", options.Level)
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoding.TimeKey = "time"
	var encoder zapcore.Encoder
	switch options.Format {
	case "json":
		encoder = zapcore.NewJSONEncoder(encoding)
	case "console", "":
		encoding.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		encoding.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(encoding)
	default:
		return nil, fmt.Errorf("log format %q, allowed are console and json", options.Format)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(out)), level)), nil
}
