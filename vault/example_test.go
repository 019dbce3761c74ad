package vault_test

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

func Example() {
	keys, err := vault.GenerateKeyset() // programs: vault.LoadKeyset(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	stored := newRows() // programs: a *store.DB
	v := vault.New(keys, stored)

	id := job.KeyID{Type: "email.send", Key: "order-1001.receipt"}
	sealed, err := v.Seal("pl_1", id, []byte(`{"to":"ada@example.com"}`), time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	stored.put("pl_1", sealed)
	payload, err := v.Open(context.Background(), "pl_1", id)
	fmt.Println(string(payload), err)

	sealed.KeyID.Key = "order-1002.receipt" // somebody moves the row to another job
	stored.put("pl_1", sealed)
	_, err = v.Open(context.Background(), "pl_1", id)
	fmt.Println(err)
	// Output:
	// {"to":"ada@example.com"} <nil>
	// open payload pl_1: payload is gone: it is not what was sealed for this reference and job
}

// A producer in a service of its own encrypts like the workers: it dials with protected options.
func ExampleProtect() {
	keys, err := vault.GenerateKeyset() // programs: vault.Source{…}.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	options := vault.Protect(client.Options{HostPort: "127.0.0.1:7233"}, keys)
	// c, err := worker.Dial(ctx, options), or client.Dial(options)

	inJob := converter.WithDataConverterSerializationContext(options.DataConverter, converter.WorkflowSerializationContext{
		WorkflowID: "job:email.send:order-1001.receipt",
	})
	payload, err := inJob.ToPayload("ada@example.com")
	fmt.Println(string(payload.GetMetadata()["encoding"]), string(payload.GetMetadata()["redrive-binding"]), err)
	var text string
	err = options.DataConverter.FromPayload(payload, &text) // as a codec endpoint does, which does not know the job
	fmt.Println(text, err)
	// Output:
	// binary/redrive-encrypted-v1 job:email.send:order-1001.receipt <nil>
	// ada@example.com <nil>
}
