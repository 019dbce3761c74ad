package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/internal/wire"
	"github.com/redrivehq/redrive/job"
)

// probeWindow is how long a build that may run the replay has to answer the volley. Builds that may not hand a probe on.
const probeWindow = 4 * time.Second

// probeVolley is how many probes go out at once when the first found nothing. A server moves
// retry timers by about a second, so one probe asks four or five workers within the window; this many ask about seventy,
// and miss a canary among ten in less than one request in a thousand.
const probeVolley = 16

// firstWindow is how long the first probe may take, which is all there is where one build is deployed. It may be lost: to
// a worker that has just gone, or to a busy one.
const firstWindow = time.Second

// probe asks the lane's control queue for a live build that rule allows, first one worker and then all that poll.
func (r *replayRun) probe(rule job.VersionRule) *job.Refusal {
	err := r.sendProbe(r.ctx, rule, firstWindow).Get(r.ctx, nil)
	if err == nil {
		return nil
	}
	found, answers := r.volley(rule)
	if found {
		return nil
	}
	return r.unrepaired(rule, append(answers, wire.Decode(err).Report))
}

// sendProbe leaves a probe on the control queue; a build that it may not end at hands it on for as long as window.
func (r *replayRun) sendProbe(ctx workflow.Context, rule job.VersionRule, window time.Duration) workflow.Future {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              r.parked.ID.Type.ControlQueue(),
		ScheduleToCloseTimeout: window,
		StartToCloseTimeout:    time.Second,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 1,
		},
		Priority: temporal.Priority{PriorityKey: priorityOperator},
	})
	return workflow.ExecuteActivity(ctx, job.ActivityProbeHandler, rule)
}

// volley ends with the first probe that found a build, and calls the others back.
func (r *replayRun) volley(rule job.VersionRule) (found bool, answers []job.Report) {
	ctx, callBack := workflow.WithCancel(r.ctx)
	defer callBack()
	selector := workflow.NewSelector(ctx)
	for range probeVolley {
		selector.AddFuture(r.sendProbe(ctx, rule, probeWindow), func(f workflow.Future) {
			if err := f.Get(ctx, nil); err != nil {
				answers = append(answers, wire.Decode(err).Report)
				return
			}
			found = true
		})
	}
	for n := 0; n < probeVolley && !found; n++ {
		selector.Select(ctx)
	}
	return found, answers
}

// unrepaired says what answered and what did not.
func (r *replayRun) unrepaired(rule job.VersionRule, answers []job.Report) *job.Refusal {
	var versions []string
	for _, a := range answers {
		switch {
		case a.HandedBack == job.HandedBackNoVault:
			return &job.Refusal{Code: job.RefusedNoLiveHandler, Detail: fmt.Sprintf(
				"version %s answers for %s but has no vault to open the payload with; give its worker Options.Payloads",
				a.Version, r.parked.ID.Type)}
		case a.HandedBack != "" && !slices.Contains(versions, a.Version):
			versions = append(versions, a.Version)
		}
	}
	slices.Sort(versions)
	live := strings.Join(versions, ", ")
	switch {
	case len(versions) == 0:
		return &job.Refusal{Code: job.RefusedNoLiveHandler, Detail: fmt.Sprintf(
			"no worker answers for %s; is one that polls %s running?", r.parked.ID.Type, r.parked.ID.Type.Lane())}
	case rule.Only != "":
		return &job.Refusal{Code: job.RefusedNoLiveHandler, Detail: fmt.Sprintf(
			"no worker of version %s answered within %s; %s did", rule.Only, probeWindow, live)}
	default:
		return &job.Refusal{Code: job.RefusedVersionUnchanged, Detail: fmt.Sprintf(
			"%s needs a repair, and no repaired version answered within %s; %s did, failed so far: %s (deploy a repaired handler under another version, or force with a reason)",
			r.parked.Current.Class, probeWindow, live, strings.Join(rule.Not, ", "))}
	}
}
