package activities

import (
	"context"

	"github.com/redrivehq/redrive/job"
)

// Probe answers whether a live build may run a replay. One that may not hands the probe back, so that the next poller
// of the control queue is asked.
type Probe struct {
	Version string
}

// Handler implements the activity ProbeHandler.
func (p Probe) Handler(_ context.Context, rule job.VersionRule) (string, error) {
	if rule.Allows(p.Version) {
		return p.Version, nil
	}
	return "", &job.Failure{
		Class: job.ClassTransient, Message: "version " + p.Version + " may not run this replay", Delay: handBackDelay, Benign: true,
		Report: job.Report{Version: p.Version, HandedBack: "version"},
	}
}
