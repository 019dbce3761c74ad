package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/redrivehq/redrive/job"
)

// MaxJobTypes bounds the values of the label job_type; further types share OtherJobTypes. A job type comes from whoever
// starts jobs, and a label without a bound is an outage of the monitoring.
const (
	MaxJobTypes   = 200
	OtherJobTypes = "other"
)

// Names of the instruments, as OpenTelemetry has them; Prometheus sees underscores, and _total behind counters. They are
// API: docs/metrics.md explains each.
const (
	MetricLeasesGranted   = "redrive.leases.granted"
	MetricLeaseExtensions = "redrive.lease.extensions"
	MetricLeaseExpiries   = "redrive.lease.expiries"
	MetricSuspects        = "redrive.suspects"
	MetricAttempts        = "redrive.attempts"
	MetricCountedAttempts = "redrive.job.counted_attempts"
	MetricEffects         = "redrive.effects"
	MetricWithheld        = "redrive.redaction.withheld"
	MetricRedactionMisses = "redrive.redaction.misses"
	MetricPrivacy         = "redrive.privacy"
)

// Metrics counts what a worker's Observer hears. It is safe for concurrent use.
type Metrics struct {
	granted, extensions, expiries, suspects, attempts, effects, withheld, misses, privacy metric.Int64Counter
	counted                                                                               metric.Int64Histogram

	mu    sync.Mutex
	types map[job.Type]bool // those with a label value of their own
}

var _ job.Observer = (*Metrics)(nil)

// NewMetrics makes the instruments in a provider of the service's own, or in NewPrometheus's.
func NewMetrics(provider metric.MeterProvider) (*Metrics, error) {
	meter := provider.Meter("github.com/redrivehq/redrive")
	m := &Metrics{types: map[job.Type]bool{}}
	for _, c := range []struct {
		counter           *metric.Int64Counter
		name, description string
	}{
		{&m.granted, MetricLeasesGranted, "Leases granted: every attempt is one."},
		{&m.extensions, MetricLeaseExtensions, "Heartbeats that the server acknowledged."},
		{&m.expiries, MetricLeaseExpiries, "Leases that lapsed without a verdict, seen by the next attempt."},
		{&m.suspects, MetricSuspects, "Leases granted to jobs whose last attempts were all lost while running."},
		{&m.attempts, MetricAttempts, "Attempts that ended, by how."},
		{&m.effects, MetricEffects, "Effects asked of the ledger, by what became of it."},
		{&m.withheld, MetricWithheld, "Payloads that could not be redacted safely, by why."},
		{&m.misses, MetricRedactionMisses, "Redacted payloads that verification refused and withheld: 0, or redaction has a defect."},
		{&m.privacy, MetricPrivacy, "What came past the payload codec, or tried to."},
	} {
		var err error
		if *c.counter, err = meter.Int64Counter(c.name, metric.WithDescription(c.description)); err != nil {
			return nil, fmt.Errorf("metric %s: %w", c.name, err)
		}
	}
	var err error
	m.counted, err = meter.Int64Histogram(MetricCountedAttempts,
		metric.WithDescription("Counted attempts that a job took to complete or to become a dead letter."),
		metric.WithExplicitBucketBoundaries(0, 1, 2, 3, 5, 10, 20, 50, 100))
	if err != nil {
		return nil, fmt.Errorf("metric %s: %w", MetricCountedAttempts, err)
	}
	return m, nil
}

// Lease implements job.Observer.
func (m *Metrics) Lease(t job.Type, event job.LeaseEvent, n int) {
	counter := map[job.LeaseEvent]metric.Int64Counter{
		job.LeaseGranted: m.granted, job.LeaseExtended: m.extensions, job.LeaseSuspect: m.suspects,
		job.LeaseExpired: m.expiries, job.LeaseUndelivered: m.expiries,
	}[event]
	labels := []attribute.KeyValue{m.jobType(t)}
	if event == job.LeaseExpired || event == job.LeaseUndelivered {
		labels = append(labels, attribute.String("kind", string(event)))
	}
	counter.Add(context.Background(), int64(n), metric.WithAttributes(labels...))
}

// Attempt implements job.Observer.
func (m *Metrics) Attempt(t job.Type, end job.AttemptEnd) {
	m.attempts.Add(context.Background(), 1, metric.WithAttributes(m.jobType(t), attribute.String("end", string(end))))
}

// Finished implements job.Observer.
func (m *Metrics) Finished(t job.Type, state job.State, counted int) {
	m.counted.Record(context.Background(), int64(counted),
		metric.WithAttributes(m.jobType(t), attribute.String("state", string(state))))
}

// Effect implements job.Observer.
func (m *Metrics) Effect(t job.Type, event job.EffectEvent) {
	m.effects.Add(context.Background(), 1, metric.WithAttributes(m.jobType(t), attribute.String("event", string(event))))
}

// Withheld implements job.Observer.
func (m *Metrics) Withheld(t job.Type, reason string) {
	m.withheld.Add(context.Background(), 1, metric.WithAttributes(m.jobType(t), attribute.String("reason", reason)))
	if reason == job.WithheldByVerification {
		m.misses.Add(context.Background(), 1, metric.WithAttributes(m.jobType(t)))
	}
}

// Privacy implements job.Observer.
func (m *Metrics) Privacy(t job.Type, event job.PrivacyEvent) {
	m.privacy.Add(context.Background(), 1, metric.WithAttributes(m.jobType(t), attribute.String("event", string(event))))
}

func (m *Metrics) jobType(t job.Type) attribute.KeyValue {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.types[t] && len(m.types) >= MaxJobTypes {
		return attribute.String("job_type", OtherJobTypes)
	}
	m.types[t] = true
	return attribute.String("job_type", string(t))
}

// NewPrometheus returns a meter provider, and the page from which Prometheus reads what is counted in it. The provider
// keeps nothing that needs an orderly end.
func NewPrometheus() (metric.MeterProvider, http.Handler, error) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return nil, nil, fmt.Errorf("prometheus exporter: %w", err)
	}
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)), promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), nil
}
