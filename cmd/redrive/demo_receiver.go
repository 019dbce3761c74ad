package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// receiver is the customer's web hook endpoint: it throttles the first deliveries of each key with 429, then takes
// them, and counts what it took by idempotency key.
type receiver struct {
	address string
	server  *http.Server

	mu        sync.Mutex
	throttled map[string]int
	taken     map[string]int
}

// throttledDeliveries is how often a key is told to come back later.
const throttledDeliveries = 2

func startReceiver(ctx context.Context) (*receiver, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo receiver: %w", err)
	}
	r := &receiver{address: listener.Addr().String(), throttled: map[string]int{}, taken: map[string]int{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // a loopback listener that dies under the demo
		}
	}()
	return r, nil
}

// ServeHTTP answers one delivery.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	key := request.Header.Get("Idempotency-Key")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.throttled[key] < throttledDeliveries {
		r.throttled[key]++
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	r.taken[key]++
	w.WriteHeader(http.StatusOK)
}

// counts returns how many deliveries were throttled and, per key, how many were taken.
func (r *receiver) counts() (throttled int, taken map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken = map[string]int{}
	for key, n := range r.taken {
		taken[key] = n
	}
	for _, n := range r.throttled {
		throttled += n
	}
	return throttled, taken
}

func (r *receiver) close() error { return r.server.Close() }
