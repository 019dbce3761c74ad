package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redrivehq/redrive/job"
)

// email is the payload of email.send.
type email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	OrderID any    `json:"order_id"` // text or number
	// Amount is a number such as 17.9, or a text such as "17,90 EUR": producers do not agree.
	Amount json.RawMessage `json:"amount"`
}

// Validate names the field that does not fit, and quotes nothing.
func (e *email) Validate() error {
	switch {
	case e.To == "":
		return errors.New(`"to" is missing`)
	case e.Subject == "":
		return errors.New(`"subject" is missing`)
	case e.OrderID == nil:
		return errors.New(`"order_id" is missing`)
	case len(e.Amount) == 0:
		return errors.New(`"amount" is missing`)
	}
	if e.amountIsText() {
		return nil
	}
	var number *float64
	if err := json.Unmarshal(e.Amount, &number); err != nil || number == nil {
		return errors.New(`"amount" is neither a number nor a text`)
	}
	return nil
}

func (e *email) amountIsText() bool { return e.Amount[0] == '"' && string(e.Amount) != `""` }

// defectiveVersion of email.send refuses amounts that are texts. It is the defect that the demo repairs by deploying
// another version and replaying.
const defectiveVersion = "v1"

// emailSender "sends" mail into the outbox.
type emailSender struct {
	outbox  outbox
	version string
}

// send is the handler. The defect's text quotes the payload as careless code does, so that a dead letter shows what
// redaction makes of it.
func (s emailSender) send(ctx context.Context, mail email) (any, error) {
	if s.version == defectiveVersion && mail.amountIsText() {
		return nil, job.InvalidPayload(fmt.Errorf("amount %s of the mail to %s is not a number", mail.Amount, mail.To))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.outbox.record(ctx, "sent"); err != nil {
		return nil, err
	}
	return map[string]bool{"sent": true}, nil
}
