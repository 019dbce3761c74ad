// Package telemetry sets up what redrive says about itself: its log and its metrics.
//
// There is one log, on stderr, written by zap; the Temporal SDK writes to it too, so that an operator reads one stream in
// one format. What it promises:
//
//   - Messages are constants and what varies stands in fields, so a collector can count them.
//   - One entry is one line, whatever a field holds: control characters are escaped.
//   - No payload gets in by way of the SDK. From its calls only plain values (texts, numbers, times, errors) are kept, and
//     of anything else just its Go type.
//
// The metrics are OpenTelemetry's. Metrics is the worker's observer: it counts leases, attempts and effects by job type, and
// never by key. A service gives it its own meter provider, or takes NewPrometheus's and serves its page.
//
// Of redrive it imports only the nouns, so that every other package may import it.
package telemetry
