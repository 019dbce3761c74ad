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

func testAudit(t *testing.T, open func(*testing.T) *store.DB) {
	db := open(t)
	none, err := db.Audit(t.Context(), 0)
	require.NoError(t, err)
	require.Empty(t, none)
	records := make([]job.AuditRecord, 3)
	for i := range records {
		records[i] = job.AuditRecord{
			At: begin().Add(-time.Duration(i) * time.Hour), Action: job.AuditViewPayloads, Credential: "privileged_token", Actor: "ada",
			Reason: fmt.Sprintf("ticket %d", i), Namespace: "prod", Targets: []string{"job:email.send:a", "plain"}, Items: i, From: "127.0.0.1",
		}
		require.NoError(t, db.SaveAudit(t.Context(), records[i]))
	}
	require.NoError(t, db.SaveAudit(t.Context(), records[2]), "each call is an event of its own")
	got, err := db.Audit(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, []job.AuditRecord{records[2], records[2], records[1]}, got, "in order of arrival, whatever clocks say")
	_, err = db.Audit(t.Context(), store.MaxPage+1)
	require.ErrorIs(t, err, store.ErrInvalidQuery)
}

// erasable records dead letter n with a payload, and an effect with a result.
func erasable(t *testing.T, db *store.DB, n, run int) job.DeadLetter {
	t.Helper()
	letter := newLetter(n, run)
	letter.ID = job.NewDeadLetterID(letter.Namespace, letter.KeyID)
	sealed := newPayload(letter.PayloadRef)
	sealed.KeyID, sealed.DataKey = letter.KeyID, []byte("key")
	require.NoError(t, db.RecordFailure(t.Context(), letter, sealed))
	return letter
}

func erasure(reason string) job.Erasure {
	return job.Erasure{At: begin().Add(72 * time.Hour), Credential: "privileged_token", Actor: "ada", Reason: reason}
}

func requireGone(t *testing.T, db *store.DB, refs ...job.PayloadRef) {
	t.Helper()
	for _, ref := range refs {
		_, err := db.SealedPayload(t.Context(), ref)
		require.ErrorIs(t, err, job.ErrPayloadGone, string(ref))
	}
}

func testErase(t *testing.T, open func(*testing.T) *store.DB) {
	t.Run("EverythingOfTheJobAndNothingElse", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		erasable(t, db, 1, 0)
		letter, other := erasable(t, db, 1, 1), erasable(t, db, 2, 0)
		loose := newPayload("pl_loose") // of a run that no dead letter knows
		loose.KeyID = letter.KeyID
		require.NoError(t, db.SavePayload(t.Context(), *loose))
		foreign := newPayload("pl_foreign")
		foreign.KeyID, foreign.Namespace = letter.KeyID, "elsewhere"
		require.NoError(t, db.SavePayload(t.Context(), *foreign))
		before := mustRead(t, db, other.ID)

		erased, err := db.Erase(t.Context(), letter.Namespace, letter.KeyID, erasure("asked for"), "127.0.0.1")
		require.NoError(t, err)
		require.Equal(t, job.Erased{Payloads: 3, Records: 2}, erased)
		requireGone(t, db, "pl_1_0", "pl_1_1", "pl_loose")
		got := mustRead(t, db, letter.ID)
		require.Equal(t, new(erasure("asked for")), got.Erased)
		require.Empty(t, got.RedactedPayload)
		for _, failure := range got.Failures {
			require.Empty(t, failure.RedactedPayload)
			require.NotEmpty(t, failure.PayloadRef, "the reference stays, and says that it leads nowhere")
			require.NotEmpty(t, failure.Message)
		}
		require.Equal(t, before, mustRead(t, db, other.ID))
		for _, ref := range []job.PayloadRef{"pl_2_0", "pl_foreign"} {
			_, err = db.SealedPayload(t.Context(), ref)
			require.NoError(t, err, string(ref))
		}
		log, err := db.Audit(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, []job.AuditRecord{{
			At: erasure("").At, Action: job.AuditErase, Credential: "privileged_token", Actor: "ada", Reason: "asked for",
			Namespace: letter.Namespace, Targets: []string{letter.JobWorkflowID()}, Items: 5, From: "127.0.0.1",
		}}, log)
	})
	t.Run("ResultsOfEffects", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		letter := erasable(t, db, 1, 0)
		require.NoError(t, db.Complete(t.Context(), claim(t, db, newClaim(1, "a")), json.RawMessage(`{"iban":"DE00"}`)))
		erased, err := db.Erase(t.Context(), letter.Namespace, letter.KeyID, erasure("why"), "")
		require.NoError(t, err)
		require.Equal(t, 1, erased.Results)
		got := effect(t, db, newEffect(1), t)
		require.Empty(t, got.Result)
		require.Equal(t, job.EffectDone, got.State, "that it happened is still known")
	})
	t.Run("RepeatedKeepsTheTombstone", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		letter := erasable(t, db, 1, 0)
		_, err := db.Erase(t.Context(), letter.Namespace, letter.KeyID, erasure("first"), "")
		require.NoError(t, err)
		again, err := db.Erase(t.Context(), letter.Namespace, letter.KeyID, erasure("second"), "")
		require.NoError(t, err)
		require.Zero(t, again.Parts())
		require.Equal(t, "first", mustRead(t, db, letter.ID).Erased.Reason)
		log, err := db.Audit(t.Context(), 0)
		require.NoError(t, err)
		require.Len(t, log, 2, "both were asked")

		erasable(t, db, 1, 0) // a writer that comes late
		requireGone(t, db, letter.PayloadRef)
		require.Empty(t, mustRead(t, db, letter.ID).RedactedPayload)

		erasable(t, db, 1, 1) // the key was started again, and failed again: new data
		third, err := db.Erase(t.Context(), letter.Namespace, letter.KeyID, erasure("third"), "")
		require.NoError(t, err)
		require.Equal(t, job.Erased{Payloads: 1, Records: 1}, third)
		require.Equal(t, "third", mustRead(t, db, letter.ID).Erased.Reason)
	})
	t.Run("WithoutADeadLetter", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		sealed := newPayload("pl_start")
		require.NoError(t, db.SavePayload(t.Context(), *sealed))
		erased, err := db.Erase(t.Context(), "default", sealed.KeyID, erasure("why"), "")
		require.NoError(t, err)
		require.Equal(t, job.Erased{Payloads: 1}, erased)
		requireGone(t, db, "pl_start")
	})
	t.Run("Subject", func(t *testing.T) {
		t.Parallel()
		db := open(t)
		first, second := erasable(t, db, 2, 0), erasable(t, db, 1, 0) // both of subject-7
		stranger := newLetter(3, 0)
		stranger.Subject = "subject-8"
		record(t, db, stranger)
		nobody := newLetter(4, 0)
		nobody.Subject = ""
		record(t, db, nobody)
		sealed := newPayload("pl_start")
		sealed.KeyID, sealed.Subject, sealed.Namespace = job.KeyID{Type: "note.keep", Key: "x"}, "subject-7", "default"
		require.NoError(t, db.SavePayload(t.Context(), *sealed))

		found, err := db.OfSubject(t.Context(), "default", "subject-7")
		require.NoError(t, err)
		require.Equal(t, []job.KeyID{second.KeyID, first.KeyID, sealed.KeyID}, found)
		for _, nothing := range [][2]string{{"default", "subject-9"}, {"elsewhere", "subject-7"}, {"default", ""}} {
			found, err = db.OfSubject(t.Context(), nothing[0], nothing[1])
			require.NoError(t, err)
			require.Empty(t, found, nothing)
		}
	})
}

func mustRead(t *testing.T, db *store.DB, id job.DeadLetterID) job.DeadLetter {
	t.Helper()
	letter, err := db.DeadLetter(t.Context(), id)
	require.NoError(t, err)
	return letter
}
