package telemetry_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/telemetry"
)

// scrape returns the lines of the page that name a metric of ours.
func scrape(t *testing.T, page http.Handler) []string {
	t.Helper()
	response := httptest.NewRecorder()
	page.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, response.Code)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "redrive_") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func newMetrics(t *testing.T) (*telemetry.Metrics, http.Handler) {
	t.Helper()
	provider, page, err := telemetry.NewPrometheus()
	require.NoError(t, err)
	m, err := telemetry.NewMetrics(provider)
	require.NoError(t, err)
	return m, page
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	t.Run("CountEveryEvent", func(t *testing.T) {
		t.Parallel()
		m, page := newMetrics(t)
		for _, event := range job.AllLeaseEvents() {
			m.Lease("email.send", event, 2)
		}
		for _, event := range job.AllEffectEvents() {
			m.Effect("email.send", event)
		}
		for _, event := range job.AllPrivacyEvents() {
			m.Privacy("email.send", event)
		}
		m.Attempt("email.send", job.AttemptCompleted)
		m.Attempt("email.send", job.AttemptEnd(job.ClassThrottled))
		m.Finished("email.send", job.StateCompleted, 3)
		m.Withheld("email.send", "invalid_json")
		m.Withheld("email.send", job.WithheldByVerification)
		got := scrape(t, page)
		for _, want := range []string{
			`redrive_leases_granted_total{job_type="email.send"} 2`,
			`redrive_lease_extensions_total{job_type="email.send"} 2`,
			`redrive_lease_expiries_total{job_type="email.send",kind="expired"} 2`,
			`redrive_lease_expiries_total{job_type="email.send",kind="undelivered"} 2`,
			`redrive_suspects_total{job_type="email.send"} 2`,
			`redrive_attempts_total{end="completed",job_type="email.send"} 1`,
			`redrive_attempts_total{end="throttled",job_type="email.send"} 1`,
			`redrive_job_counted_attempts_bucket{job_type="email.send",state="completed",le="2"} 0`,
			`redrive_job_counted_attempts_bucket{job_type="email.send",state="completed",le="3"} 1`,
			`redrive_effects_total{event="applied",job_type="email.send"} 1`,
			`redrive_effects_total{event="deduplicated",job_type="email.send"} 1`,
			`redrive_effects_total{event="held",job_type="email.send"} 1`,
			`redrive_effects_total{event="fenced",job_type="email.send"} 1`,
			`redrive_effects_total{event="unknown",job_type="email.send"} 1`,
			`redrive_effects_total{event="duplicated",job_type="email.send"} 1`,
			`redrive_privacy_total{event="plain_start_allowed",job_type="email.send"} 1`,
			`redrive_privacy_total{event="plain_start_refused",job_type="email.send"} 1`,
			`redrive_privacy_total{event="input_refused",job_type="email.send"} 1`,
			`redrive_privacy_total{event="request_refused",job_type="email.send"} 1`,
			`redrive_redaction_withheld_total{job_type="email.send",reason="invalid_json"} 1`,
			`redrive_redaction_withheld_total{job_type="email.send",reason="verification"} 1`,
			`redrive_redaction_misses_total{job_type="email.send"} 1`,
		} {
			require.Contains(t, got, want)
		}
	})
	t.Run("BoundTheJobTypes", func(t *testing.T) {
		t.Parallel()
		m, page := newMetrics(t)
		for i := range 5 * telemetry.MaxJobTypes {
			m.Attempt(job.Type(fmt.Sprintf("type-%d", i)), job.AttemptCompleted)
		}
		got := scrape(t, page)
		require.Len(t, got, telemetry.MaxJobTypes+1)
		require.Contains(t, got, fmt.Sprintf(`redrive_attempts_total{end="completed",job_type="other"} %d`, 4*telemetry.MaxJobTypes))
		m.Attempt("type-0", job.AttemptCompleted)
		require.Contains(t, scrape(t, page), `redrive_attempts_total{end="completed",job_type="type-0"} 2`)
	})
}
