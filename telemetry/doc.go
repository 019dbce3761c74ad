// Package telemetry sets up what redrive says about itself: so far its log.
//
// There is one log, on stderr, written by zap; the Temporal SDK writes to it too, so that an operator reads one stream in
// one format. What it promises:
//
//   - Messages are constants and what varies stands in fields, so a collector can count them.
//   - One entry is one line, whatever a field holds: control characters are escaped.
//   - No payload gets in by way of the SDK. From its calls only plain values (texts, numbers, times, errors) are kept, and
//     of anything else just its Go type.
//
// It imports no other package of redrive, so that each may import it.
package telemetry
