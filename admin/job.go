package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

// jobBody is an envelope and what else a start takes.
type jobBody struct {
	Type          string          `json:"type" example:"email.send"`
	Key           string          `json:"key" example:"order-1001.receipt" doc:"the idempotency key, unique per type"`
	SchemaVersion int             `json:"schema_version,omitempty" doc:"of the payload; default 1"`
	Payload       json.RawMessage `json:"payload,omitempty" doc:"any JSON"`
	PayloadRef    string          `json:"payload_ref,omitempty" doc:"in place of payload"`
	Subject       string          `json:"subject,omitempty" doc:"opaque id of the person the data is about"`
	Tags          []string        `json:"tags,omitempty"`
	Deadline      *time.Time      `json:"deadline,omitempty" doc:"absolute; default: the policy's"`
	Delay         string          `json:"delay,omitempty" example:"15m" doc:"before the job starts"`
	Priority      int             `json:"priority,omitempty" doc:"1 (first) to 5; default 3"`
	Vault         bool            `json:"vault,omitempty" doc:"keep the payload in the vault, out of Temporal's history"`
}

func (b jobBody) envelope() job.Envelope {
	return job.Envelope{
		Type: job.Type(b.Type), Key: job.Key(b.Key), SchemaVersion: b.SchemaVersion, Payload: b.Payload,
		PayloadRef: job.PayloadRef(b.PayloadRef), Subject: b.Subject, Tags: b.Tags, Deadline: b.Deadline,
	}
}

func (b jobBody) options() (starter.EnqueueOptions, error) {
	o := starter.EnqueueOptions{Priority: b.Priority, Vault: b.Vault}
	if b.Delay == "" {
		return o, nil
	}
	var err error
	if o.Delay, err = time.ParseDuration(b.Delay); err != nil {
		return o, fmt.Errorf("%w: delay is not a duration such as 30s or 15m", starter.ErrInvalidOptions)
	}
	return o, nil
}

type startAnswer struct {
	Status int
	Body   starter.Enqueued
}

func (a *api) jobRoutes(routes huma.API) {
	huma.Register(routes, huma.Operation{
		OperationID: "start-job", Method: http.MethodPost, Path: "/v1/jobs", DefaultStatus: http.StatusCreated,
		Summary:      "Start a job",
		Description:  "201: started. 200: the key was known with the same payload, nothing was started, and state says where that job stands. 409: it was known with another payload.",
		MaxBodyBytes: job.MaxVaultBytes + 64<<10, BodyReadTimeout: 15 * time.Second,
		Errors: []int{http.StatusBadRequest, http.StatusConflict, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *struct{ Body jobBody }) (*startAnswer, error) {
		options, err := in.Body.options()
		if err != nil {
			return nil, a.problem(err)
		}
		enqueued, err := a.Jobs.Start(ctx, in.Body.envelope(), options)
		if err != nil {
			return nil, a.problem(err)
		}
		if enqueued.Duplicate {
			return &startAnswer{http.StatusOK, enqueued}, nil
		}
		return &startAnswer{http.StatusCreated, enqueued}, nil
	})
}
