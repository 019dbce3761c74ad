package vault_test

import (
	"context"
	"fmt"
	"time"

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
	// open payload pl_1: payload is gone: the row is not what was sealed for this reference and job
}
