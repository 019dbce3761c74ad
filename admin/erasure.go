package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

// Eraser erases jobs' data; *vault.Eraser is one. Every method is idempotent and safe for concurrent use.
type Eraser interface {
	Job(ctx context.Context, id job.KeyID, r vault.ErasureRequest) vault.ErasedJob
	DeadLetter(ctx context.Context, id job.DeadLetterID, r vault.ErasureRequest) vault.ErasedJob
	Subject(ctx context.Context, subject string, r vault.ErasureRequest) ([]vault.ErasedJob, error)
}

// erasureBody is what every erasure says.
type erasureBody struct {
	Actor  string `json:"actor,omitempty" doc:"who asks; recorded beside the credential, as claimed"`
	Reason string `json:"reason" doc:"why; it stays in the tombstone and in the audit log"`
	Cancel bool   `json:"cancel,omitempty" doc:"stop an open run first, instead of refusing"`
}

// erasureOfBody is an erasureBody that also says whose data; huma does not look into embedded types that are not exported.
type erasureOfBody struct {
	Actor   string `json:"actor,omitempty" doc:"who asks; recorded beside the credential, as claimed"`
	Reason  string `json:"reason" doc:"why; it stays in the tombstone and in the audit log"`
	Cancel  bool   `json:"cancel,omitempty" doc:"stop an open run first, instead of refusing"`
	Type    string `json:"type,omitempty" doc:"with key: of the job"`
	Key     string `json:"key,omitempty"`
	Subject string `json:"subject,omitempty" doc:"in place of type and key: every job that is known to hold data about it"`
}

// erasedJob is a job of the answer; code and detail say why it is not erased, or not all of it.
type erasedJob struct {
	vault.ErasedJob
	Complete bool   `json:"complete"`
	Code     string `json:"code,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

type erasureAnswer struct {
	Body struct {
		Jobs []erasedJob `json:"jobs"`
	}
}

// callerKey holds the caller's address: huma's handlers see a context only.
type callerKey struct{}

func (a *api) erasureRoutes(routes huma.API) {
	operation := func(name, path, summary string) huma.Operation {
		return huma.Operation{
			OperationID: name, Method: http.MethodPost, Path: path, DefaultStatus: http.StatusOK, Summary: summary, MaxBodyBytes: 32 << 10,
			Description: "Payloads in the vault with their keys, redacted payloads, results of effects, and the histories of closed runs. " +
				"Needs the privileged token. 409: a run of the job is open. It may be repeated.",
			Errors: []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		}
	}
	huma.Register(routes, operation("erase-dead-letter", "/v1/dead-letters/{id}/erase", "Erase the data of a dead letter's job"),
		func(ctx context.Context, in *struct {
			ID   string `path:"id"`
			Body erasureBody
		},
		) (*erasureAnswer, error) {
			request, err := a.erasureRequest(ctx, in.Body)
			if err != nil {
				return nil, err
			}
			return a.oneErased(a.Eraser.DeadLetter(ctx, job.DeadLetterID(in.ID), request))
		})
	huma.Register(routes, operation("erase", "/v1/erase", "Erase the data of a job, or of every job about a subject"),
		func(ctx context.Context, in *struct{ Body erasureOfBody }) (*erasureAnswer, error) {
			request, err := a.erasureRequest(ctx, erasureBody{in.Body.Actor, in.Body.Reason, in.Body.Cancel})
			if err != nil {
				return nil, err
			}
			return a.erase(ctx, in.Body, request)
		})
}

func (a *api) erase(ctx context.Context, body erasureOfBody, request vault.ErasureRequest) (*erasureAnswer, error) {
	id := job.KeyID{Type: job.Type(body.Type), Key: job.Key(body.Key)}
	switch {
	case (id == job.KeyID{}) == (body.Subject == ""):
		return nil, newProblem(http.StatusBadRequest, "invalid_request", "either type and key, or a subject, is needed")
	case body.Subject == "":
		if err := id.Validate(); err != nil {
			return nil, a.problem(err)
		}
		return a.oneErased(a.Eraser.Job(ctx, id, request))
	}
	jobs, err := a.Eraser.Subject(ctx, body.Subject, request)
	if err != nil {
		return nil, a.problem(err)
	}
	return a.erased(jobs), nil
}

// erasureRequest takes the credential from what let the request in, never from its body.
func (a *api) erasureRequest(ctx context.Context, body erasureBody) (vault.ErasureRequest, error) {
	who := credentialOf(ctx)
	if !who.mayErase() {
		a.Logger.Warn("erasure refused", zap.String("credential", string(who)))
		return vault.ErasureRequest{}, newProblem(http.StatusForbidden, "not_privileged", "erasing needs the privileged token")
	}
	from, _ := ctx.Value(callerKey{}).(string)
	return vault.ErasureRequest{
		Erasure: job.Erasure{At: time.Now().UTC(), Credential: string(who), Actor: body.Actor, Reason: body.Reason},
		Cancel:  body.Cancel, From: from,
	}, nil
}

func (a *api) oneErased(done vault.ErasedJob) (*erasureAnswer, error) {
	if done.Err != nil {
		return nil, a.problem(done.Err)
	}
	return a.erased([]vault.ErasedJob{done}), nil
}

func (a *api) erased(jobs []vault.ErasedJob) *erasureAnswer {
	answer := &erasureAnswer{}
	answer.Body.Jobs = []erasedJob{} // an empty list, not null
	for _, done := range jobs {
		told := erasedJob{ErasedJob: done, Complete: done.Err == nil}
		var p *Problem
		if done.Err != nil && errors.As(a.problem(done.Err), &p) {
			told.Code, told.Detail = p.Code, p.Detail
		}
		answer.Body.Jobs = append(answer.Body.Jobs, told)
	}
	return answer
}
