package telemetry

import (
	"fmt"
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// NewLogger returns a logger that writes to w. level is debug, info, warn or error, format is console or json; empty, they
// are info and console. The error says what is allowed. It never samples: a job that is put off a thousand times is said
// a thousand times.
func NewLogger(w io.Writer, level, format string) (*zap.Logger, error) {
	if level == "" {
		level = "info"
	}
	least, err := zapcore.ParseLevel(level)
	if err != nil || least > zapcore.ErrorLevel {
		return nil, fmt.Errorf("log level %q, allowed are debug, info, warn and error", level)
	}
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	encoding.EncodeDuration = zapcore.StringDurationEncoder
	encoding.TimeKey = "time"
	var encoder zapcore.Encoder
	switch format {
	case "json":
		encoder = zapcore.NewJSONEncoder(encoding)
	case "console", "":
		encoding.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		encoding.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(encoding)
	default:
		return nil, fmt.Errorf("log format %q, allowed are console and json", format)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), least)), nil
}
