package main

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/redrivehq/redrive/job"
)

// count asks Temporal, the store and the places where effects land; nothing is taken from what the story expected.
func (d *demo) count(ctx context.Context) error {
	d.report.Jobs = len(d.jobs)
	for _, id := range d.jobs {
		if err := d.countJob(ctx, id); err != nil {
			return err
		}
	}
	duplicates, err := d.duplicates()
	d.report.DuplicateEffects = duplicates
	return err
}

func (d *demo) countJob(ctx context.Context, id job.KeyID) error {
	state, err := d.starter.State(ctx, id)
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	letter, err := d.stack.Store.DeadLetter(ctx, job.NewDeadLetterID(d.stack.Server.Namespace, id))
	recorded := err == nil
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	if recorded {
		d.report.DeadLettered++
	}
	switch {
	case recorded && letter.State == job.StateResolved:
		d.report.Resolved++
	case state == job.StateCompleted:
		d.report.Completed++
	case !recorded && state != job.StateCanceled:
		d.report.Lost++
	}
	expired, err := d.expiries(ctx, id)
	d.report.LeaseExpiries += expired
	return err
}

// expiries counts the leases that a job lost. History keeps the last failure of an activity only; the job that loses
// leases here fails in no other way, so each of its earlier attempts is one.
func (d *demo) expiries(ctx context.Context, id job.KeyID) (n int, err error) {
	events := d.stack.Client.GetWorkflowHistory(ctx, id.JobWorkflowID(), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return n, fmt.Errorf("history of %s: %w", id, err)
		}
		lost := event.GetActivityTaskStartedEventAttributes().GetLastFailure().GetTimeoutFailureInfo()
		if lost.GetTimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT {
			n += int(event.GetActivityTaskStartedEventAttributes().GetAttempt()) - 1
		}
	}
	return n, nil
}

// duplicates counts effects beyond the first of a key: mails in the outbox, and deliveries that the receiver took.
func (d *demo) duplicates() (n int, err error) {
	lines, err := d.effects()
	done := map[job.KeyID]int{}
	for _, line := range lines {
		if line.Event != "started" {
			done[job.KeyID{Type: line.Type, Key: line.Key}]++
		}
	}
	for _, times := range done {
		n += times - 1
	}
	_, taken := d.receiver.counts()
	for _, times := range taken {
		n += times - 1
	}
	return n, err
}

func (d *demo) conclude() {
	r := d.report
	d.line.chapter("The counts")
	then := "and then resolved"
	if r.Resolved != r.DeadLettered {
		then = fmt.Sprintf("and %d of them resolved", r.Resolved)
	}
	d.line.say("·", "%s in: %d completed, %d dead-lettered %s", plural(r.Jobs, "job"), r.Completed, r.DeadLettered, then)
	d.line.say("·", "leases that expired: %d, duplicate effects: %d, jobs lost: %d", r.LeaseExpiries, r.DuplicateEffects, r.Lost)
	if r.OK {
		d.line.say("✓", "all checks of the story passed, in %.0f s", r.Seconds)
		return
	}
	d.line.say("✗", "the counts are not what they have to be")
}
