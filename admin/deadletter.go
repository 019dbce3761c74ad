package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/redrivehq/redrive/job"
)

// Query selects dead letters; zero fields do not restrict. Since and Until bound the newest failure.
type Query struct {
	State        job.State
	Type         job.Type
	Class        job.Class
	Cause        job.Cause
	Fingerprint  string
	Version      string
	Since, Until time.Time
	Limit        int // 0: the store's default
	Cursor       string
}

// Page is a part of a list. Next is empty on the last one.
type Page struct {
	Letters []job.DeadLetter `json:"dead_letters"`
	Next    string           `json:"next,omitempty" doc:"the cursor of the next page"`
}

type listInput struct {
	State       string    `query:"state" example:"dead_lettered"`
	Type        string    `query:"type"`
	Class       string    `query:"error_class"`
	Cause       string    `query:"cause"`
	Fingerprint string    `query:"fingerprint"`
	Version     string    `query:"handler_version"`
	Since       time.Time `query:"since" doc:"of the newest failure, RFC 3339"`
	Until       time.Time `query:"until"`
	Limit       int       `query:"limit" doc:"default 50, at most 500"`
	Cursor      string    `query:"cursor"`
}

func (in *listInput) query() Query {
	return Query{
		State: job.State(in.State), Type: job.Type(in.Type), Class: job.Class(in.Class), Cause: job.Cause(in.Cause),
		Fingerprint: in.Fingerprint, Version: in.Version, Since: in.Since, Until: in.Until, Limit: in.Limit, Cursor: in.Cursor,
	}
}

type (
	listAnswer  struct{ Body Page }
	letterInput struct {
		ID string `path:"id" example:"dl_ab2cd3ef4gh5ij6kl7mn2op3qr"`
	}
	letterAnswer struct{ Body job.DeadLetter }
)

func (a *api) deadLetterRoutes(routes huma.API) {
	huma.Register(routes, huma.Operation{
		OperationID: "list-dead-letters", Method: http.MethodGet, Path: "/v1/dead-letters",
		Summary: "List dead letters, newest failure first, without lineage and payload",
		Errors:  []int{http.StatusBadRequest, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *listInput) (*listAnswer, error) {
		page, err := a.Store.DeadLetters(ctx, in.query())
		if err != nil {
			return nil, a.problem(err)
		}
		if page.Letters == nil {
			page.Letters = []job.DeadLetter{} // an empty list, not null
		}
		return &listAnswer{page}, nil
	})
	huma.Register(routes, huma.Operation{
		OperationID: "show-dead-letter", Method: http.MethodGet, Path: "/v1/dead-letters/{id}",
		Summary: "One dead letter with its lineage, replays and requests",
		Errors:  []int{http.StatusNotFound, http.StatusServiceUnavailable},
	}, func(ctx context.Context, in *letterInput) (*letterAnswer, error) {
		letter, err := a.Store.DeadLetter(ctx, job.DeadLetterID(in.ID))
		if err != nil {
			return nil, a.problem(err)
		}
		return &letterAnswer{letter}, nil
	})
}
