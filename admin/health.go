package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"go.uber.org/zap"
)

type health struct {
	Status int `json:"-"`
	Body   struct {
		Status string            `json:"status" enum:"ok,unready"`
		Checks map[string]string `json:"checks,omitempty" doc:"what was asked, and ok or unavailable"`
	}
}

func (a *api) healthRoutes(routes huma.API) {
	open := []map[string][]string{}
	huma.Register(routes, huma.Operation{
		OperationID: "health", Method: http.MethodGet, Path: "/healthz", Security: open,
		Summary: "Whether the process serves; asks nothing else",
	}, func(context.Context, *struct{}) (*health, error) {
		h := &health{Status: http.StatusOK}
		h.Body.Status = "ok"
		return h, nil
	})
	huma.Register(routes, huma.Operation{
		OperationID: "ready", Method: http.MethodGet, Path: "/readyz", Security: open,
		Summary: "Whether the store and Temporal answer", Errors: []int{http.StatusServiceUnavailable},
	}, func(ctx context.Context, _ *struct{}) (*health, error) { return a.ready(ctx), nil })
}

func (a *api) ready(ctx context.Context) *health {
	h := &health{Status: http.StatusOK}
	h.Body.Status, h.Body.Checks = "ok", map[string]string{}
	for name, ask := range map[string]func(context.Context) error{"store": a.Store.Ping, "temporal": a.Temporal} {
		h.Body.Checks[name] = "ok"
		if err := ask(ctx); err != nil {
			a.Logger.Warn("not ready", zap.String("check", name), zap.Error(err))
			h.Status, h.Body.Status, h.Body.Checks[name] = http.StatusServiceUnavailable, "unready", "unavailable"
		}
	}
	return h
}
