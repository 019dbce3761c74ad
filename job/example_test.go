package job_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redrivehq/redrive/job"
)

func ExampleParseEnvelope() {
	e, err := job.ParseEnvelope([]byte(`{"type":"email.send","key":"order-1001.receipt","payload":{"to":"customer-7"}}`))
	fmt.Println(e.ID(), e.SchemaVersion, err)

	_, err = job.ParseEnvelope([]byte(`{"type":"email.send","key":"orders/1001","payload":{}}`))
	fmt.Println(err)
	// Output:
	// email.send:order-1001.receipt 1 <nil>
	// invalid job identity: the key has '/' at byte 6, which no key may hold (nor / ? # %)
}

func ExampleKeyID_JobWorkflowID() {
	id := job.KeyID{Type: "email.send", Key: "order-1001.receipt"}
	fmt.Println(id.JobWorkflowID())
	fmt.Println(id.ReplayWorkflowID())
	// Output:
	// job:email.send:order-1001.receipt
	// replay:email.send:order-1001.receipt
}

// A handler says what kind of trouble it met. The class survives any wrapping.
func ExampleClassify() {
	limited := errors.New("429 from the mail provider")
	err := fmt.Errorf("send receipt: %w", job.Throttled(limited, 30*time.Second))

	class, retryAfter := job.Classify(err, nil)
	fmt.Println(class, class.Disposition(), "counted:", class.Counted(), "after:", retryAfter)

	class, _ = job.Classify(errors.New("connection refused"), nil)
	fmt.Println(class, class.Disposition(), "counted:", class.Counted())
	// Output:
	// throttled throttle counted: false after: 30s
	// transient retry counted: true
}

func ExampleHandler() {
	type receipt struct {
		Order int `json:"order"`
	}
	var send job.Handler[receipt] = func(_ context.Context, r receipt) (any, error) {
		if r.Order == 0 {
			return nil, job.InvalidPayload(errors.New("the order has no number"))
		}
		return map[string]int{"sent": r.Order}, nil
	}
	fmt.Println(send(context.Background(), receipt{Order: 1001}))
	fmt.Println(send(context.Background(), receipt{}))
	// Output:
	// map[sent:1001] <nil>
	// <nil> invalid_payload: the order has no number
}

func ExampleDefinition() {
	d := job.Definition{Type: "email.send", Owner: "mail team"}
	fmt.Println(d.Validate())
	d.Effects = job.EffectsDownstream
	fmt.Println(d.Validate())
	// Output:
	// invalid handler definition: job type email.send has effects ""; say how the handler is idempotent, one of [none ledger downstream_key]
	// <nil>
}

func ExampleBackoff_Delay() {
	b := job.Backoff{Base: time.Second, Cap: 10 * time.Second}
	for n := 1; n <= 5; n++ {
		fmt.Println(b.Delay(n, 0.5)) // 0.5 is the middle of the jitter
	}
	// Output:
	// 1s
	// 2s
	// 4s
	// 8s
	// 10s
}

func ExamplePolicies_For() {
	set := job.Policies{ByType: map[job.Type]job.Policy{"email.send": {MaxAttempts: 3}}}
	fmt.Println(set.For("email.send").MaxAttempts, set.For("sms.send").MaxAttempts)
	// Output: 3 10
}

func ExampleReplayCommand() {
	fmt.Println(job.ReplayCommand("default", job.KeyID{Type: "email.send", Key: "o'brien"}))
	// Output: temporal workflow signal --workflow-id 'replay:email.send:o'\''brien' --name replay --input '{"actor":"'"${USER:-operator}"'","reason":"handler repaired"}'
}
