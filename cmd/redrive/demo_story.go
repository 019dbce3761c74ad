package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// The keys of the story's main characters.
var (
	demoSick = job.KeyID{Type: "email.send", Key: "order-1002.receipt"}
	demoSlow = job.KeyID{Type: "demo.slow", Key: "report-2026-11"}
)

func (d *demo) enqueueAll(ctx context.Context) error {
	d.line.chapter("Two worker processes of build v1, and five jobs from a service")
	for range 2 {
		w, err := d.startWorker("v1")
		if err != nil {
			return err
		}
		d.line.say("·", "worker process %d runs build v1", w.pid())
	}
	envelopes, err := d.envelopes()
	if err != nil {
		return err
	}
	for _, envelope := range envelopes {
		if err := d.polled(ctx, envelope.Type); err != nil {
			return err
		}
		enqueued, err := d.starter.Start(ctx, envelope, starter.EnqueueOptions{})
		if err != nil {
			return err
		}
		d.jobs = append(d.jobs, enqueued.ID)
		d.line.say("→", "enqueued %s", enqueued.WorkflowID)
	}
	again, err := d.starter.Start(ctx, envelopes[0], starter.EnqueueOptions{})
	if err != nil {
		return err
	}
	if !again.Duplicate {
		return fmt.Errorf("%s was started twice", again.WorkflowID)
	}
	d.line.say("✓", "%s enqueued again: it exists (%s), nothing was started", again.WorkflowID, again.State)
	return nil
}

// validJobs are done before the next chapter begins, so that it tells of its own job only.
func (d *demo) validJobs(ctx context.Context) error {
	d.line.chapter("The valid jobs")
	for _, id := range d.jobs {
		if id.Type != demoSick.Type || id == demoSick {
			continue
		}
		if _, err := d.starter.Wait(ctx, id); err != nil {
			return err
		}
		d.line.say("✓", "%s completed", id)
	}
	return nil
}

// killAWorker kills the process that holds the slow job, in the middle of it. The invalid job is dead-lettered by then:
// that process might have been writing its record, which would be written by another, only later.
func (d *demo) killAWorker(ctx context.Context) error {
	d.line.chapter("A worker dies in the middle of a job")
	var dead *starter.DeadLetteredError
	if _, err := d.starter.Wait(ctx, demoSick); !errors.As(err, &dead) {
		return fmt.Errorf("%s should have been dead-lettered, it ended as: %v", demoSick, err) //nolint:errorlint // may be nil
	}
	var holder int
	err := until(ctx, func() (bool, error) {
		lines, err := d.effects()
		for _, line := range lines {
			if line.Key == demoSlow.Key && line.Event == "started" {
				holder = line.PID
			}
		}
		return holder != 0, err
	})
	if err != nil {
		return fmt.Errorf("wait for %s to start: %w", demoSlow, err)
	}
	for _, w := range d.workers {
		if w.pid() == holder {
			if err := w.kill(); err != nil {
				return fmt.Errorf("kill worker %d: %w", holder, err)
			}
			d.line.say("!", "worker %d works on %s: SIGKILL", holder, demoSlow)
		}
	}
	replacement, err := d.startWorker("v1")
	if err != nil {
		return err
	}
	d.line.say("·", "worker process %d takes its place", replacement.pid())
	return nil
}

func (d *demo) leaseExpires(ctx context.Context) error {
	policies, err := config.Load(d.config, nil)
	if err != nil {
		return err
	}
	d.line.say("·", "waiting for its lease (%g s) to expire", policies.Policies.Types[demoSlow.Type].Lease.Seconds())
	if _, err := d.starter.Wait(ctx, demoSlow); err != nil {
		return err
	}
	d.line.say("✓", "%s completed: its lease expired, and it ran again elsewhere%s", demoSlow, d.attemptOf(demoSlow))
	return nil
}

func (d *demo) throttledDelivery(ctx context.Context) error {
	d.line.chapter("Meanwhile a receiver was busy")
	for _, id := range d.jobs {
		if id.Type != "webhook.deliver" {
			continue
		}
		if _, err := d.starter.Wait(ctx, id); err != nil {
			return err
		}
		throttled, _ := d.receiver.counts()
		d.line.say("✓", "%s completed; before that the receiver had answered 429 (too many requests) %s", id, plural(throttled, "time"))
	}
	return nil
}

// attemptOf says by which attempt a slow job was finished.
func (d *demo) attemptOf(id job.KeyID) string {
	lines, err := d.effects()
	if err != nil {
		return ""
	}
	for _, line := range lines {
		if line.Key == id.Key && line.Event == "finished" {
			return fmt.Sprintf(" (attempt %d, worker %d)", line.Attempt, line.PID)
		}
	}
	return ""
}

func (d *demo) showTheDeadLetter(ctx context.Context) error {
	d.line.chapter("One job can never succeed")
	_, err := d.starter.Wait(ctx, demoSick)
	var dead *starter.DeadLetteredError
	if !errors.As(err, &dead) {
		return fmt.Errorf("%s should have been dead-lettered, it ended as: %v", demoSick, err) //nolint:errorlint // may be nil
	}
	letter, err := d.stack.Store.DeadLetter(ctx, dead.DeadLetterID)
	if err != nil {
		return err
	}
	d.line.say("!", "%s is poison: %s after %s", demoSick, letter.Class, plural(letter.Log.Counted, "attempt"))
	d.line.say("·", "dead letter %s, scrubbed: %s", letter.ID, printable(letter.Message))
	d.line.say("·", "payload, redacted: %s", letter.RedactedPayload)
	d.line.say("·", "the payload itself is in the vault, encrypted, as %s", letter.PayloadRef)
	return nil
}

func (d *demo) ask(ctx context.Context, reason string) (job.Decision, error) {
	id := job.NewDeadLetterID(d.stack.Server.Namespace, demoSick)
	requestID, err := d.replay.Send(ctx, id, job.RequestReplay, job.Request{Actor: "ada", Reason: reason})
	if err != nil {
		return job.Decision{}, err
	}
	return d.replay.Await(ctx, id, job.RequestReplay, requestID)
}

func (d *demo) askTooEarly(ctx context.Context) error {
	d.line.chapter("An operator asks for a replay before anything was repaired")
	d.line.say("→", "ada, the operator on call, asks: maybe it works now")
	d.line.say("·", "looking for a live build that may run it (up to 4 s)")
	decision, err := d.ask(ctx, "maybe it works now")
	if err != nil {
		return err
	}
	if decision.Refusal == nil || decision.Refusal.Code != job.RefusedVersionUnchanged {
		return fmt.Errorf("the replay should have been refused as %s, it was decided as %+v", job.RefusedVersionUnchanged, decision)
	}
	d.line.say("✗", "refused, %s: %s", decision.Refusal.Code, decision.Refusal.Detail)
	return nil
}

func (d *demo) deployTheRepair(ctx context.Context) error {
	d.line.chapter("The repaired handler is deployed")
	repaired, err := d.startWorker("v2")
	if err != nil {
		return err
	}
	d.line.say("·", "worker process %d runs build v2", repaired.pid())
	for _, w := range d.workers {
		if w.version == "v1" {
			if err := w.stop(ctx); err != nil {
				return fmt.Errorf("drain worker %d: %w", w.pid(), err)
			}
		}
	}
	d.line.say("·", "the workers of build v1 have drained and gone")
	return nil
}

func (d *demo) replayIt(ctx context.Context) error {
	d.line.chapter("The replay, under the original key")
	d.line.say("→", "ada asks again: v2 reads amounts with a currency")
	decision, err := d.ask(ctx, "v2 reads amounts with a currency")
	if err != nil {
		return err
	}
	if !decision.Accepted {
		return fmt.Errorf("the replay should have been accepted, it was refused: %+v", decision.Refusal)
	}
	d.line.say("✓", "accepted as replay %d", decision.Replay)
	record, err := d.replay.AwaitOutcome(ctx, decision.DeadLetterID, decision.Replay)
	if err != nil {
		return err
	}
	if record.Outcome != job.OutcomeResolved {
		return fmt.Errorf("the replay should have resolved the dead letter, its outcome is %s: %s", record.Outcome, record.Detail)
	}
	d.line.say("✓", "outcome: %s (%s)", record.Outcome, record.Detail)
	return nil
}

// effects reads the outbox, in which the sample handlers leave what they did.
func (d *demo) effects() (lines []outboxLine, err error) {
	file, err := os.Open(d.outbox)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		var line outboxLine
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("read the outbox: %w", err)
		}
		lines = append(lines, line)
	}
	return lines, scanner.Err()
}

// polled waits until workers poll the lane of t.
func (d *demo) polled(ctx context.Context, t job.Type) error {
	return until(ctx, func() (bool, error) {
		polled, err := d.starter.Polled(ctx, t)
		return polled, err
	})
}

// until asks again until the answer is yes, an error, or ctx ends.
func until(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
