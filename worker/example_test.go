package worker_test

import (
	"context"
	"errors"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/worker"
)

type Receipt struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

func sendReceipt(ctx context.Context, r Receipt) (any, error) {
	if r.Amount < 0 {
		return nil, job.InvalidPayload(errors.New("the amount is negative")) // poison: no retry can help
	}
	attempt, _ := job.AttemptFrom(ctx)
	id, err := mailer.Send(ctx, attempt.ID.String(), r.To) // the key lets the mailer drop a duplicate
	if err != nil {
		return nil, job.DependencyDown(err) // retried with backoff
	}
	return map[string]string{"message_id": id}, nil
}

func ExampleRegister() {
	handlers := new(worker.Handlers)
	err := worker.Register(handlers, job.Definition{
		Type: "email.send", Effects: job.EffectsDownstream, Owner: "team-billing",
	}, sendReceipt)
	if err != nil {
		panic(err)
	}
}

// mailer is the downstream system of the example.
var mailer outbox

type outbox struct{}

func (outbox) Send(_ context.Context, key, _ string) (id string, err error) {
	return "message of " + key, nil
}
