package replay_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
)

// An operator's replay: the request is durable once Send returns, then both answers are waited for.
func ExampleClient() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	temporal, err := client.DialContext(ctx, client.Options{})
	if err != nil {
		panic(err)
	}
	defer temporal.Close()
	var store replay.Store // a *store.DB
	requests := replay.New(temporal, store)

	id := job.DeadLetterID("dl_aaaaaaaaaaaaaaaaaaaaaaaaaa")
	requestID, err := requests.Send(ctx, id, job.RequestReplay, job.Request{Actor: "ada", Reason: "the address parser is repaired"})
	if errors.Is(err, replay.ErrInvalidRequest) {
		fmt.Println("nothing was sent:", err)
		return
	}
	if err != nil {
		panic(err)
	}
	decision, err := requests.Await(ctx, id, job.RequestReplay, requestID)
	if err != nil {
		panic(err)
	}
	if !decision.Accepted {
		fmt.Println("refused:", decision.Refusal.Code, decision.Refusal.Detail)
		return
	}
	record, err := requests.AwaitOutcome(ctx, id, decision.Replay)
	if err != nil {
		panic(err)
	}
	fmt.Println(record.Outcome)
}
