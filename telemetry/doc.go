// Package telemetry sets up what redrive says about itself: so far its log.
//
// There is one log, on stderr, written by zap; the Temporal SDK writes to it too. Messages are constants and what
// varies stands in fields, so a collector can count them. No payload gets in by way of the SDK: from its calls only
// plain values (texts, numbers, times, errors) are kept, and of anything else just its Go type.
package telemetry
