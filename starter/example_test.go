package starter_test

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/sdk/client"

	"github.com/redrivehq/redrive/starter"
)

type Receipt struct {
	To     string `json:"to"`
	Amount int    `json:"amount"`
}

func ExampleEnqueue() {
	ctx := context.Background()
	temporal, err := client.Dial(client.Options{})
	if err != nil {
		panic(err)
	}
	defer temporal.Close()
	jobs := starter.New(temporal, starter.Options{})

	enqueued, err := starter.Enqueue(ctx, jobs, "email.send", "order-1001.receipt", Receipt{To: "…", Amount: 42}, starter.EnqueueOptions{})

	var conflict *starter.ConflictError
	switch {
	case errors.As(err, &conflict):
		fmt.Println("the key is taken by another payload:", conflict.Existing.WorkflowID)
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(enqueued.State, enqueued.Warning)
	}
}
