package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"

	"github.com/redrivehq/redrive/job"
)

func TestRecordDeath(t *testing.T) {
	t.Parallel()
	t.Run("Recorded", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, envelope(`{"to":"a@example.org","order":1001}`))
		death, letter := m.record(t, notice())
		require.Equal(t, job.NewDeadLetterID("default", orderID), letter.ID)
		require.Equal(t, job.StateDeadLettered, letter.State)
		require.Equal(t, "https://runbooks.example/email", letter.Runbook)
		require.Equal(t, start, letter.FirstFailure)
		require.Equal(t, start.Add(time.Hour+90*24*time.Hour), letter.KeepUntil)
		require.Equal(t, job.NewPayloadRef("default", "run-1"), letter.PayloadRef)
		require.Equal(t, []string{`{"to":"a@example.org","order":1001}`}, m.plain, "the vault gets the payload as it was")
		require.Equal(t, letter.PayloadRef, m.sealed[0].Ref)
		require.Equal(t, 2, death.Attempts)
		require.NotEmpty(t, death.Fingerprint)
	})
	t.Run("SecretsAreNowhere", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, envelope(`{"to":"a@example.org","password":"`+secret+`","deep":[{"api_key":"k-`+secret+`"}]}`))
		death, letter := m.record(t, notice(func(n *job.DeathNotice) {
			n.Message = "login as a@example.org with " + secret + " failed\nAuthorization: Bearer abcdefgh12345678"
		}))
		text := everything(t, death, letter)
		for _, planted := range []string{secret, "abcdefgh12345678", "a@example.org"} {
			require.NotContains(t, text, planted)
		}
		require.Positive(t, letter.Redaction.Fields+letter.Redaction.Values)
	})
	t.Run("TheSameTwiceForTheSameRun", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, envelope(`{"a":1}`))
		first, err := m.RecordDeath(t.Context(), notice())
		require.NoError(t, err)
		second, err := m.RecordDeath(t.Context(), notice())
		require.NoError(t, err)
		require.Equal(t, first, second)
		require.Equal(t, m.letters[0], m.letters[1])
	})
	t.Run("UnparsedInput", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, map[string]any{"password": secret, "no": "envelope"})
		death, letter := m.record(t, notice(func(n *job.DeathNotice) {
			n.Unparsed, n.Class, n.Report = true, job.ClassInvalidPayload, job.Report{}
		}))
		require.NotContains(t, everything(t, death, letter), secret)
		require.Contains(t, m.plain[0], secret)
		require.Equal(t, start.Add(time.Hour), letter.LastFailure)
	})
	t.Run("UnparsedText", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, []byte("\xff\x00password="+secret))
		death, letter := m.record(t, notice(func(n *job.DeathNotice) { n.Unparsed = true }))
		require.NotContains(t, everything(t, death, letter), secret)
	})
	// A rolling deploy may have tightened the rules since the run began.
	t.Run("EnvelopeThatThisBuildRefuses", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, map[string]any{"type": orderType, "key": orderID.Key, "schema_version": -1, "payload": map[string]any{"password": secret}})
		death, letter := m.record(t, notice())
		require.NotContains(t, everything(t, death, letter), secret)
		require.Contains(t, m.plain[0], secret, "the vault has what was sent")
		require.Equal(t, job.ClassRejected, letter.Class, "the verdict stays")
		require.Empty(t, letter.PayloadRef, "no handler could take it")
	})
	t.Run("EmptyInput", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t)
		_, letter := m.record(t, notice(func(n *job.DeathNotice) { n.Unparsed = true }))
		require.Empty(t, letter.PayloadRef)
		require.Empty(t, letter.RedactedPayload)
		require.Nil(t, m.sealed[0])
	})
	t.Run("PayloadReference", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.opened = map[job.PayloadRef]string{"pl_1": `{"password":"` + secret + `"}`}
		death, letter := m.record(t, notice(func(n *job.DeathNotice) { n.PayloadRef, n.Message = "pl_1", "pw "+secret }))
		require.NotContains(t, everything(t, death, letter), secret)
		require.Equal(t, job.PayloadRef("pl_1"), letter.PayloadRef)
		require.Nil(t, m.sealed[0], "it is sealed already")
	})
	t.Run("PayloadReferenceGone", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		_, letter := m.record(t, notice(func(n *job.DeathNotice) { n.PayloadRef = "pl_1" }))
		require.Empty(t, letter.RedactedPayload)
		require.Equal(t, job.PayloadRef("pl_1"), letter.PayloadRef)
	})
	t.Run("VaultDown", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.down = errDown
		_, err := m.RecordDeath(t.Context(), notice(func(n *job.DeathNotice) { n.PayloadRef = "pl_1" }))
		require.ErrorIs(t, err, errDown)
	})
	t.Run("StoreDown", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, envelope(`{}`))
		m.down = errDown
		_, err := m.RecordDeath(t.Context(), notice())
		require.ErrorIs(t, err, errDown)
	})
	t.Run("AWorkersClockAheadDoesNotDateTheFailure", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, envelope(`{}`))
		_, letter := m.record(t, notice(func(n *job.DeathNotice) { n.StoppedAt = start.Add(-time.Hour) }))
		require.Equal(t, start.Add(-time.Hour), letter.LastFailure)
	})
	t.Run("NeverStartedWithoutPollers", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, envelope(`{}`))
		m.polledBy()
		death, letter := m.record(t, notice(func(n *job.DeathNotice) { n.NeverStarted, n.Class = true, job.ClassTimeout }))
		require.Equal(t, job.ClassUnknownJobType, death.Class)
		require.Contains(t, letter.Message, "redrive.email.send")
	})
	t.Run("NeverStartedWithPollers", func(t *testing.T) {
		t.Parallel()
		m := newMorgue(t)
		m.startedWith(t, envelope(`{}`))
		m.polledBy(&taskqueuepb.PollerInfo{})
		death, _ := m.record(t, notice(func(n *job.DeathNotice) { n.NeverStarted, n.Class = true, job.ClassTimeout }))
		require.Equal(t, job.ClassTimeout, death.Class)
	})
}
