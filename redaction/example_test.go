package redaction_test

import (
	"fmt"

	"github.com/redrivehq/redrive/redaction"
)

func Example() {
	policy, err := redaction.ParsePolicy([]byte(`
keys: [customer_ref]
paths: ['$.lines[*].gift_note']
`))
	if err != nil {
		panic(err)
	}
	redactor, err := redaction.Compile(policy)
	if err != nil {
		panic(err)
	}
	payload := []byte(`{"order":"order-1001","total":1.10,"customerRef":"c-7714","lines":[{"gift_note":"to Ann"}],"password":"hunter2!"}`)
	redacted := redactor.Payload(payload)
	fmt.Println(string(redacted.JSON))
	fmt.Println(redacted.Report.Fields, redacted.Report.ByRule)

	taint := redactor.Taint(payload)
	text := redactor.Text(`order-1001: customer c-7714 has no mailbox ann@corp.example`, taint)
	fmt.Println(redaction.Truncate(text, 1024))
	// Output:
	// {"order":"order-1001","total":1.10,"customerRef":"[redacted:key]","lines":[{"gift_note":"[redacted:path]"}],"password":"[redacted:password]"}
	// 3 map[key:1 password:1 path:1]
	// order-1001: customer [redacted:key] has no mailbox [redacted:email]
}
