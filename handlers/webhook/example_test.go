package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/redrivehq/redrive/handlers/webhook"
	"github.com/redrivehq/redrive/job"
)

// A receiver checks the signature and remembers the key. In a service, worker.Register takes Definition and Deliver.
func Example() {
	secret := []byte("shared with the receiver")
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if webhook.Verify(secret, r.Header, body, time.Now(), 5*time.Minute) != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Println(r.Header.Get("Idempotency-Key"), r.Header.Get("Redrive-Event"), string(body))
	}))
	defer receiver.Close()

	sender := webhook.New(webhook.Options{Secret: secret})
	ctx := job.WithAttempt(context.Background(), job.AttemptInfo{ID: job.KeyID{Type: webhook.Type, Key: "order-1001.paid"}})
	result, err := sender.Deliver(ctx, webhook.Delivery{
		URL: receiver.URL, Event: "order.paid", Body: json.RawMessage(`{"order":1001}`),
	})
	fmt.Println(result, err)
	// Output:
	// order-1001.paid order.paid {"order":1001}
	// {200} <nil>
}
