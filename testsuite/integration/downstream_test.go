package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/redrivehq/redrive/job"
)

// downstream is a system that handlers call. It charges each idempotency key once and gives every later call the same
// receipt; the first call of all is answered only when release is closed.
type downstream struct {
	*httptest.Server
	called  chan string // the number of each call
	said    chan string // what processes say of themselves
	release chan struct{}
	answer  func() // closes release, once

	mu       sync.Mutex
	calls    int
	receipts map[string]int
}

func newDownstream(t *testing.T) *downstream {
	t.Helper()
	d := &downstream{
		called: make(chan string, 100), said: make(chan string, 1000), release: make(chan struct{}), receipts: map[string]int{},
	}
	d.answer = sync.OnceFunc(func() { close(d.release) })
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charge", d.charge)
	mux.HandleFunc("POST /say", func(_ http.ResponseWriter, r *http.Request) {
		line, _ := io.ReadAll(r.Body) // of a process that may be dying
		d.said <- string(line)
	})
	d.Server = httptest.NewServer(mux)
	t.Cleanup(func() { d.answer(); d.Close() })
	return d
}

func (d *downstream) charge(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.calls++
	call, key := d.calls, r.Header.Get("Idempotency-Key")
	if _, known := d.receipts[key]; !known {
		d.receipts[key] = len(d.receipts) + 1
	}
	receipt := d.receipts[key]
	d.mu.Unlock()
	d.called <- fmt.Sprint(call)
	if call == 1 {
		<-d.release
	}
	fmt.Fprint(w, receipt)
}

// charges returns how many calls came in, and how many of them had an effect.
func (d *downstream) charges() (calls, effects int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls, len(d.receipts)
}

// downstreamClient is a handler's side of it, and an observer that says what it hears.
type downstreamClient struct {
	job.Unobserved
	url string
}

func (c downstreamClient) say(line string) {
	if c.url == "" {
		return
	}
	response, err := http.Post(c.url+"/say", "text/plain", strings.NewReader(line)) //nolint:noctx // loopback
	if err == nil {
		_ = response.Body.Close()
	}
}

// Effect implements job.Observer.
func (c downstreamClient) Effect(_ job.Type, event job.EffectEvent) { c.say("effect " + string(event)) }

// charge is a handler with one effect, whose call does not heed its context: the worst that an SDK of a third party does.
func (c downstreamClient) charge(ctx context.Context, _ note) (any, error) {
	return job.Once(ctx, "charge", func(_ context.Context, key string) (receipt int, err error) {
		request, err := http.NewRequest(http.MethodPost, c.url+"/charge", http.NoBody) //nolint:noctx // see above
		if err != nil {
			return 0, err
		}
		request.Header.Set("Idempotency-Key", key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, job.DependencyDown(err)
		}
		defer response.Body.Close() //nolint:errcheck // read whole
		return receipt, json.NewDecoder(response.Body).Decode(&receipt)
	}, job.OnceOptions{Downstream: true})
}

// observed counts what an observer hears.
type observed struct {
	job.Unobserved
	mu       sync.Mutex
	leases   map[job.LeaseEvent]int
	effects  map[job.EffectEvent]int
	finished map[int]int // jobs by counted attempts
	privacy  map[job.PrivacyEvent]int
}

func newObserved() *observed {
	return &observed{leases: map[job.LeaseEvent]int{}, effects: map[job.EffectEvent]int{}, finished: map[int]int{}, privacy: map[job.PrivacyEvent]int{}}
}

func (o *observed) Lease(_ job.Type, event job.LeaseEvent, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.leases[event] += n
}

func (o *observed) Privacy(_ job.Type, event job.PrivacyEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.privacy[event]++
}

func (o *observed) seen(event job.PrivacyEvent) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.privacy[event]
}

func (o *observed) Finished(_ job.Type, _ job.State, counted int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished[counted]++
}

func (o *observed) Effect(_ job.Type, event job.EffectEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.effects[event]++
}

func (o *observed) lease(event job.LeaseEvent) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.leases[event]
}

func (o *observed) effect(event job.EffectEvent) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.effects[event]
}

func (o *observed) counted() map[int]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	byCount := map[int]int{}
	for counted, jobs := range o.finished {
		byCount[counted] = jobs
	}
	return byCount
}
