package activities

import (
	"context"

	"github.com/redrivehq/redrive/job"
)

// Probe answers whether a live build may run a replay. One that may not hands the probe back, so that the next poller
// of the control queue is asked.
type Probe struct {
	Version  string
	Payloads bool // this process can open payload references; a replay carries one
}

// Handler implements the activity ProbeHandler.
func (p Probe) Handler(_ context.Context, rule job.VersionRule) (string, error) {
	why, message := "version", "version "+p.Version+" may not run this replay"
	if rule.Allows(p.Version) {
		if p.Payloads {
			return p.Version, nil
		}
		why, message = job.HandedBackNoVault, "version "+p.Version+" has no vault and cannot open a payload reference"
	}
	return "", &job.Failure{
		Class: job.ClassTransient, Message: message, Delay: handBackDelay, Benign: true,
		Report: job.Report{Version: p.Version, HandedBack: why},
	}
}
