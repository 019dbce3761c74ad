package job_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestCheckReconcile(t *testing.T) {
	t.Parallel()
	for state, want := range map[job.State]job.RefusalCode{
		job.StateDeadLettered: "", job.StateResolved: job.RefusedAlreadyResolved, job.StateDiscarded: job.RefusedClosed,
		job.StateExpired: job.RefusedClosed, job.StateReplaying: job.RefusedAlreadyReplaying,
	} {
		requireCode(t, want, (&job.Parked{State: state}).CheckReconcile())
	}
}

func TestCheckSettlement(t *testing.T) {
	t.Parallel()
	unknown := &job.EffectStanding{Name: "charge", State: job.EffectUnknown, Fence: 7, Unsettled: true}
	done := &job.EffectStanding{Name: "charge", State: job.EffectDone, Fence: 7}
	for name, c := range map[string]struct {
		class     job.Class
		unsettled []string
		happened  bool
		known     *job.EffectStanding
		want      job.RefusalCode
	}{
		"Happened":            {job.ClassUnknownOutcome, []string{"charge", "mail"}, true, unknown, ""},
		"DidNotHappen":        {job.ClassUnknownOutcome, []string{"charge"}, false, unknown, ""},
		"OfAnotherClass":      {job.ClassLeaseLost, []string{"charge"}, false, unknown, ""},
		"ResultOfADoneEffect": {job.ClassHandlerDefect, nil, true, done, ""},
		"DoneStaysDone":       {job.ClassUnknownOutcome, nil, false, done, job.RefusedInvalidRequest},
		"NotTheNameOfOne":     {job.ClassUnknownOutcome, []string{"mail"}, false, nil, job.RefusedInvalidRequest},
		"HandlersOwnWord":     {job.ClassUnknownOutcome, nil, false, nil, ""},
		"NowhereToStoreIt":    {job.ClassUnknownOutcome, nil, true, nil, job.RefusedInvalidRequest},
		"NothingToSettle":     {job.ClassRejected, nil, false, nil, job.RefusedInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newParked()
			p.Current.Class, p.Unsettled = c.class, c.unsettled
			refusal := p.CheckSettlement(job.Request{Effect: "charge", Happened: &c.happened}, c.known)
			requireCode(t, c.want, refusal)
			if c.known == nil && len(c.unsettled) > 0 {
				require.Contains(t, refusal.Detail, "mail", "which names there are")
			}
		})
	}
	r := job.Request{Effect: "charge", Happened: new(true), Result: json.RawMessage(`1`)}
	require.Equal(t, job.Settlement{Effect: newEffectID(), Fence: 7, Happened: true, Result: r.Result}, r.Settlement(newEffectID(), *unknown))
}

func TestStanding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record job.EffectRecord
		want   bool
	}{
		"Unknown":          {job.EffectRecord{State: job.EffectUnknown}, true},
		"LapsedClaim":      {job.EffectRecord{State: job.EffectClaimed, Lapsed: true}, true},
		"LapsedDownstream": {job.EffectRecord{State: job.EffectClaimed, Lapsed: true, Downstream: true}, false},
		"LiveClaim":        {job.EffectRecord{State: job.EffectClaimed}, false},
		"Done":             {job.EffectRecord{State: job.EffectDone}, false},
		"Free":             {job.EffectRecord{State: job.EffectFree}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.record.Effect = newEffectID()
			got := c.record.Standing()
			require.Equal(t, c.want, got.Unsettled)
			require.Equal(t, c.want, len(job.UnsettledEffects([]job.EffectStanding{got})) == 1)
		})
	}
}

// A restart that nobody replayed leaves an unknown outcome of its own: the command that settled the first is another one.
func TestReconcileIsNamedByFailure(t *testing.T) {
	t.Parallel()
	p, raw := newParked(), []byte(`{"actor":"ada"}`)
	p.Current.RunID = "run-1"
	first := p.NameRequest(job.RequestReconcile, raw)
	require.Equal(t, first, p.NameRequest(job.RequestReconcile, raw))
	discard := p.NameRequest(job.RequestDiscard, raw)
	p.Fail(job.DeadLettered{RunID: "run-2"})
	require.NotEqual(t, first, p.NameRequest(job.RequestReconcile, raw))
	require.Equal(t, discard, p.NameRequest(job.RequestDiscard, raw))
}

// A command that is only pasted settles nothing; filled in, it is a valid request.
func TestReconcileCommand(t *testing.T) {
	t.Parallel()
	command := job.ReconcileCommand("prod", job.KeyID{Type: "email.send", Key: "k"}, "mail.7")
	input := func(command string) []byte {
		_, argument, _ := strings.Cut(command, "--input ")
		out, err := exec.CommandContext(t.Context(), "env", "USER=grace", "sh", "-c", "printf %s "+argument).Output()
		require.NoError(t, err)
		return out
	}
	require.Contains(t, command, "--namespace 'prod' --workflow-id 'replay:email.send:k' --name reconcile ")
	_, err := job.ParseRequest(job.RequestReconcile, input(command))
	require.ErrorContains(t, err, "malformed JSON")
	got, err := job.ParseRequest(job.RequestReconcile, input(strings.ReplaceAll(command, "TRUE_OR_FALSE", "false")))
	require.NoError(t, err)
	require.Equal(t, job.Request{Actor: "grace", Reason: "how this is known", Effect: "mail.7", Happened: new(false)}, got)
}

func TestToReconcile(t *testing.T) {
	t.Parallel()
	unsettled := []job.EffectStanding{{Name: "charge", State: job.EffectUnknown, Unsettled: true}}
	word := func(accepted bool, after time.Duration) []job.RequestRecord {
		return []job.RequestRecord{{Kind: job.RequestReconcile, Accepted: accepted, At: started.Add(after)}}
	}
	for name, c := range map[string]struct {
		class    job.Class
		effects  []job.EffectStanding
		requests []job.RequestRecord
		names    []string
		known    bool
	}{
		"Unsettled":              {job.ClassUnknownOutcome, unsettled, nil, []string{"charge"}, true},
		"UnsettledAndReconciled": {job.ClassUnknownOutcome, unsettled, word(true, 1), []string{"charge"}, true},
		"UnsettledOfAnyClass":    {job.ClassLeaseLost, unsettled, nil, []string{"charge"}, true},
		"HandlersOwnWord":        {job.ClassUnknownOutcome, nil, nil, nil, false},
		"RefusedWord":            {job.ClassUnknownOutcome, nil, word(false, 1), nil, false},
		"WordOnAnEarlierFailure": {job.ClassUnknownOutcome, nil, word(true, -1), nil, false},
		"Reconciled":             {job.ClassUnknownOutcome, nil, word(true, 1), nil, true},
		"NothingToSettle":        {job.ClassRejected, nil, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			letter := job.DeadLetter{FailureRecord: job.FailureRecord{Class: c.class, LastFailure: started}, Effects: c.effects, Requests: c.requests}
			names, known := letter.ToReconcile()
			require.Equal(t, c.names, names)
			require.Equal(t, c.known, known)
		})
	}
}
