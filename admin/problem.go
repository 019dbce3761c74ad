package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"go.uber.org/zap"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/replay"
	"github.com/redrivehq/redrive/starter"
	"github.com/redrivehq/redrive/vault"
)

// ErrInvalidQuery is wrapped when a list was asked for with a limit or cursor that is not of its form.
var ErrInvalidQuery = errors.New("invalid query")

// Problem is the body of every error answer.
type Problem struct {
	Title     string    `json:"title"`
	Status    int       `json:"status"`
	Code      string    `json:"code" doc:"stable, for programs"`
	Detail    string    `json:"detail,omitempty" doc:"a sentence, for people"`
	RequestID string    `json:"request_id,omitempty" doc:"of the operator's request that was refused"`
	State     job.State `json:"state,omitempty" doc:"of the job that has the key"`
	Fields    []Field   `json:"fields,omitempty"`
}

// Field is one complaint about what was sent; it never holds the value.
type Field struct {
	Location string `json:"location,omitempty"`
	Message  string `json:"message"`
}

func newProblem(status int, code, detail string) *Problem {
	return &Problem{Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus makes a Problem a huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType makes huma send it as RFC 9457 says.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// mapped is one row of the table below. Only errors whose text is known to be safe are passed on with it.
type mapped struct {
	target error
	status int
	code   string
}

func mappings() []mapped {
	return []mapped{
		{job.ErrInvalidKey, http.StatusBadRequest, "invalid_key"},
		{job.ErrInvalidEnvelope, http.StatusBadRequest, "invalid_envelope"},
		{starter.ErrInvalidOptions, http.StatusBadRequest, "invalid_options"},
		{replay.ErrInvalidRequest, http.StatusBadRequest, "invalid_request"},
		{vault.ErrInvalidErasure, http.StatusBadRequest, "invalid_request"},
		{job.ErrJobOpen, http.StatusConflict, "job_open"},
		{ErrInvalidQuery, http.StatusBadRequest, "invalid_query"},
		{job.ErrNotFound, http.StatusNotFound, "not_found"},
	}
}

// problem is the one place where errors become answers.
func (a *api) problem(err error) error {
	var conflict *starter.ConflictError
	if errors.As(err, &conflict) {
		p := newProblem(http.StatusConflict, "key_conflict", conflict.Error())
		p.State = conflict.Existing.State
		return p
	}
	for _, m := range mappings() {
		if errors.Is(err, m.target) {
			return newProblem(m.status, m.code, err.Error())
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return newProblem(http.StatusGatewayTimeout, "timeout", "what the API asked did not answer in time; the request may be repeated")
	}
	// Temporal's or a database's own words can hold addresses and values: they go to the log.
	a.Logger.Error("admin request failed", zap.Error(err))
	return newProblem(http.StatusServiceUnavailable, "unavailable", "what the API asked could not answer; the request may be repeated")
}

// refusal is the answer to an operator's request that was decided against.
func refusal(d job.Decision) error {
	p := newProblem(http.StatusConflict, string(d.Refusal.Code), d.Refusal.Detail)
	p.RequestID = d.RequestID
	return p
}

// withoutValues turns huma's own errors into Problems. Its details echo the values, and its decoder quotes the body.
func withoutValues(_ huma.Context, _ string, answer any) (any, error) {
	model, ok := answer.(*huma.ErrorModel)
	if !ok {
		return answer, nil
	}
	p := newProblem(model.Status, "invalid_input", "what was sent does not fit; see fields")
	if model.Status >= http.StatusInternalServerError {
		return newProblem(model.Status, "internal", "the request could not be handled"), nil
	}
	for _, detail := range model.Errors {
		field := Field{Location: detail.Location, Message: detail.Message}
		if detail.Location == "body" || detail.Location == "" {
			field.Message = "is not the JSON object that this request takes"
		}
		p.Fields = append(p.Fields, field)
	}
	if len(p.Fields) == 0 {
		p.Detail = model.Detail
	}
	return p, nil
}
