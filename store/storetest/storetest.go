// Package storetest is the conformance suite of store: what every database must do alike. A dialect's tests call Run,
// and RunSQL for what can only be seen beneath the store.
package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

// Run tests a store. open returns a new, migrated database each time and cleans up after itself.
func Run(t *testing.T, open func(t *testing.T) *store.DB) {
	topics := map[string]func(*testing.T, func(*testing.T) *store.DB){
		"RecordFailure": testRecordFailure,
		"DeadLetter":    testDeadLetter,
		"DeadLetters":   testDeadLetters,
		"Requests":      testRequests,
		"Replays":       testReplays,
		"Payloads":      testPayloads,
		"Vault":         testVault,
		"Late":          testLate,
		"Repeat":        testRepeat,
		"Text":          testText,
		"Concurrency":   testConcurrency,
		"Cancel":        testCancel,
		"Ledger":        testLedger,
		"Standing":      testStanding,
		"Audit":         testAudit,
		"Erase":         testErase,
	}
	for name, topic := range topics {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topic(t, open)
		})
	}
}

// begin is when the fixtures' first failure happened; it has microseconds, which must survive.
func begin() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC) }

func id(n int) job.DeadLetterID { return job.DeadLetterID(fmt.Sprintf("dl_%026d", n)) }

// newLetter returns a complete dead letter number n; each later run of it fails a minute later.
func newLetter(n, run int) job.DeadLetter {
	at := begin().Add(time.Duration(n)*time.Hour + time.Duration(run)*time.Minute)
	return job.DeadLetter{
		ID: id(n), Namespace: "default", KeyID: job.KeyID{Type: "email.send", Key: job.Key(fmt.Sprintf("order-%d", n))},
		Owner: "team-mail", Runbook: "https://runbooks.example/email", Subject: "subject-7", Tags: []string{"eu", "batch"},
		State: job.StateDeadLettered, UpdatedAt: at.Add(time.Second), KeepUntil: at.Add(90 * 24 * time.Hour),
		FailureRecord: newFailure(n, run, at),
	}
}

func newFailure(n, run int, at time.Time) job.FailureRecord {
	log := job.AttemptLog{}.Add(job.Attempt{
		Class: job.ClassInvalidPayload, Counted: true, Started: at.Add(-time.Second), Ran: time.Second, Worker: "w1", Version: "v1",
	})
	return job.FailureRecord{
		WorkflowID: fmt.Sprintf("job:email.send:order-%d", n), RunID: fmt.Sprintf("run-%d-%d", n, run), SchemaVersion: 3,
		Version: "v1", Class: job.ClassInvalidPayload, Cause: job.CausePoison, Message: "field \"to\" is <missing> & empty",
		Fingerprint: "fp-1", Log: log, FirstFailure: at.Add(-time.Minute), LastFailure: at,
		PayloadRef:      job.PayloadRef(fmt.Sprintf("pl_%d_%d", n, run)),
		RedactedPayload: json.RawMessage("{\"to\" :  \"[redacted]\", \"n\":1.0, \"n\":1e2, \"html\":\"<b>&\\u0000</b>\u2028\", \"big\":123456789012345678901234567890}"),
		Redaction:       &job.RedactionReport{Fields: 3, Values: 1, ByRule: map[string]int{"email": 1}},
	}
}

func newPayload(ref job.PayloadRef) *job.SealedPayload {
	return &job.SealedPayload{
		Ref: ref, KeyID: job.KeyID{Type: "email.send", Key: "order-1"}, KeysetID: "4711",
		DataKey: []byte{0xff, 0, 7}, Ciphertext: []byte{0, 1, 2, 0xff, 0xfe, 0}, CreatedAt: begin(),
	}
}

func newReplay(n, number int) job.ReplayRecord {
	return job.ReplayRecord{
		DeadLetterID: id(n), Number: number, RequestID: fmt.Sprintf("req-%d", number), Actor: "mallory", Reason: "fixed",
		Defect: "typo", Fixed: "v2", Forced: true, StartedAt: begin().Add(time.Duration(number) * 24 * time.Hour),
		State: job.StateReplaying,
	}
}

func finished(r job.ReplayRecord, outcome job.Outcome, state job.State) job.ReplayRecord {
	at := r.StartedAt.Add(time.Minute)
	notBefore := at.Add(time.Hour)
	r.FinishedAt, r.Outcome, r.State, r.NotBefore, r.Detail = &at, outcome, state, &notBefore, "ran on v2"
	return r
}

func record(t *testing.T, db *store.DB, letter job.DeadLetter) {
	t.Helper()
	require.NoError(t, db.RecordFailure(t.Context(), letter, nil))
}

func read(t *testing.T, db *store.DB, n int) job.DeadLetter {
	t.Helper()
	letter, err := db.DeadLetter(t.Context(), id(n))
	require.NoError(t, err)
	return letter
}
