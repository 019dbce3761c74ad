package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/redrivehq/redrive/telemetry"
)

// newMetrics returns what a worker reports to, and the page that Prometheus reads.
func newMetrics() (*telemetry.Metrics, http.Handler, error) {
	provider, page, err := telemetry.NewPrometheus()
	if err != nil {
		return nil, nil, err
	}
	metrics, err := telemetry.NewMetrics(provider)
	return metrics, page, err
}

// serveMetrics serves page at /metrics on address until stop; an empty address is none.
func serveMetrics(ctx context.Context, address string, page http.Handler, logger *zap.Logger) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics (worker.metrics_listen): %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", page)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: zap.NewStdLog(logger),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	logger.Info("metrics serving", zap.String("url", "http://"+listener.Addr().String()+"/metrics"))
	return func() error {
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}, nil
}
