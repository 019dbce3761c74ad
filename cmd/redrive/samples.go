package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/redrivehq/redrive/handlers/webhook"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

// The environment of the samples.
const (
	variableOutbox        = "REDRIVE_SAMPLE_OUTBOX"  // a file; empty: effects leave no trace
	variableWebhookSecret = "REDRIVE_WEBHOOK_SECRET" // empty: deliveries are not signed
)

// sampleOwner is who answers for the handlers that the program brings along.
const sampleOwner = "redrive"

// registerSamples adds the handlers that `redrive worker` runs by itself: webhook.deliver and the two samples of the
// demo. version is the handler version; "v1" of email.send has a defect on purpose, see emailSender.
func registerSamples(h *worker.Handlers, version string, getenv func(string) string) error {
	box := outbox{path: getenv(variableOutbox), version: version}
	webhooks := webhook.New(webhook.Options{Secret: []byte(getenv(variableWebhookSecret))})
	return errors.Join(
		worker.Register(h, webhook.Definition(sampleOwner), webhooks.Deliver),
		worker.Register(h, job.Definition{
			Type: "email.send", Effects: job.EffectsDownstream, Owner: sampleOwner,
		}, emailSender{outbox: box, version: version}.send),
		worker.Register(h, job.Definition{
			Type: "demo.slow", Effects: job.EffectsNone, Owner: sampleOwner,
		}, slowWorker{outbox: box}.work),
	)
}

// outbox is the outside world of the samples: a file to which every worker process appends what it did. Its readers
// are the ones who keep effects single, by key.
type outbox struct {
	path    string
	version string
}

// outboxLine is one effect. Nothing in it is payload data.
type outboxLine struct {
	Key           job.Key  `json:"key"`
	Type          job.Type `json:"type"`
	Event         string   `json:"event"` // sent, started or finished
	Attempt       int      `json:"attempt"`
	WorkerVersion string   `json:"worker_version"`
	PID           int      `json:"pid"`
}

// record appends one line in one write, so that lines of several processes do not mix.
func (o outbox) record(ctx context.Context, event string) error {
	attempt, ok := job.AttemptFrom(ctx)
	if !ok {
		return job.HandlerDefect(errors.New("the context names no attempt, so there is no key to record"))
	}
	if o.path == "" {
		return nil
	}
	line, err := json.Marshal(outboxLine{
		Key: attempt.ID.Key, Type: attempt.ID.Type, Event: event, Attempt: attempt.Number,
		WorkerVersion: o.version, PID: os.Getpid(),
	})
	if err != nil {
		return fmt.Errorf("encode the outbox line: %w", err)
	}
	file, err := os.OpenFile(o.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the outbox: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write to the outbox: %w", err)
	}
	return nil
}
