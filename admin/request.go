package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
)

// requestBody is an operator's request. Lengths and required fields are checked by job.Request.
type requestBody struct {
	RequestID string `json:"request_id,omitempty" doc:"makes the request idempotent; one is made up when it is left out"`
	Actor     string `json:"actor" doc:"who asks; recorded as claimed"`
	Reason    string `json:"reason,omitempty" doc:"why; required for all but annotations"`
	Text      string `json:"text,omitempty" doc:"the annotation"`
	Defect    string `json:"defect,omitempty" doc:"replay: what was wrong, for the record"`
	Fixed     string `json:"fixed_version,omitempty" doc:"replay: the only handler version that may run it"`
	Force     bool   `json:"force,omitempty" doc:"replay: run although nothing was repaired"`

	Effect   string          `json:"effect,omitempty" doc:"reconcile: the effect's name"`
	Happened *bool           `json:"happened,omitempty" doc:"reconcile: true records the effect as done, false lets a replay apply it"`
	Result   json.RawMessage `json:"result,omitempty" doc:"reconcile: what later callers of an effect that happened get, any JSON"`
}

type requestInput struct {
	ID   string `path:"id" example:"dl_ab2cd3ef4gh5ij6kl7mn2op3qr"`
	Body requestBody
}

// decision is the body of an answer that is no refusal.
type decision struct {
	RequestID string `json:"request_id"`
	Decision  string `json:"decision" enum:"accepted,pending"`
	Replay    int    `json:"replay,omitempty" doc:"the number of the accepted replay"`
}

type requestAnswer struct {
	Status int
	Body   decision
}

func (a *api) requestRoutes(routes huma.API) {
	for _, route := range []struct {
		kind          job.RequestKind
		path, summary string
	}{
		{job.RequestReplay, "replay", "Run the job again under its original key"},
		{job.RequestDiscard, "discard", "Close the dead letter without a replay"},
		{job.RequestAnnotate, "annotations", "Add a note to the dead letter"},
		{job.RequestReconcile, "reconcile", "Say whether an effect happened of which nobody knows"},
	} {
		maxBody := int64(32 << 10)
		if route.kind == job.RequestReconcile {
			maxBody += job.MaxEffectResultBytes
		}
		huma.Register(routes, huma.Operation{
			OperationID: string(route.kind), Method: http.MethodPost, Path: "/v1/dead-letters/{id}/" + route.path,
			DefaultStatus: http.StatusOK, Summary: route.summary, MaxBodyBytes: maxBody,
			Responses:   map[string]*huma.Response{"202": {Description: "Durable, not decided yet"}},
			Description: "200: accepted. 202: the request is durable and its decision is pending; the dead letter will show it under its request id. 409: it was decided against; code and detail say why.",
			Errors:      []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		}, func(ctx context.Context, in *requestInput) (*requestAnswer, error) {
			return a.request(ctx, job.DeadLetterID(in.ID), route.kind, job.Request(in.Body))
		})
	}
}

// request makes it durable, and waits a little for the decision.
func (a *api) request(ctx context.Context, id job.DeadLetterID, kind job.RequestKind, r job.Request) (*requestAnswer, error) {
	requestID, err := a.Requests.Send(ctx, id, kind, r)
	if err != nil {
		return nil, a.problem(err)
	}
	wait, cancel := context.WithTimeout(ctx, a.DecisionWait)
	defer cancel()
	made, err := a.Requests.Await(wait, id, kind, requestID)
	switch {
	case err != nil: // it is durable all the same, and an error would make the caller send it again under another id
		if wait.Err() == nil {
			a.Logger.Warn("decision not read", zap.String("request_id", requestID), zap.Error(err))
		}
		return &requestAnswer{http.StatusAccepted, decision{RequestID: requestID, Decision: "pending"}}, nil
	case !made.Accepted && made.Refusal != nil:
		return nil, refusal(made)
	}
	return &requestAnswer{http.StatusOK, decision{RequestID: requestID, Decision: "accepted", Replay: made.Replay}}, nil
}
