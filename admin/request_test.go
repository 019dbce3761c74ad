package admin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	const ask = `{"request_id":"r-7","actor":"ana","reason":"fixed","defect":"d","fixed_version":"v2","force":true}`

	t.Run("Accepted", func(t *testing.T) {
		t.Parallel()
		f := &fakes{decision: job.Decision{Accepted: true, Replay: 1}}
		c := newAPI(t, f, nil)
		for path, kind := range map[string]job.RequestKind{
			"replay": job.RequestReplay, "discard": job.RequestDiscard, "annotations": job.RequestAnnotate,
		} {
			status, body := c.do("POST", "/v1/dead-letters/dl_1/"+path, ask)
			require.Equal(t, 200, status, body)
			require.JSONEq(t, `{"request_id":"req-1","decision":"accepted","replay":1}`, body)
			require.Equal(t, kind, f.kinds[len(f.kinds)-1])
		}
		for _, id := range f.ids {
			require.Equal(t, job.DeadLetterID("dl_1"), id)
		}
		require.Len(t, f.ids, 6)
		require.Equal(t, job.Request{RequestID: "r-7", Actor: "ana", Reason: "fixed", Defect: "d", Fixed: "v2", Force: true}, f.sent[0])
	})

	t.Run("Reconcile", func(t *testing.T) {
		t.Parallel()
		f := &fakes{decision: job.Decision{Accepted: true}}
		c := newAPI(t, f, nil)
		long := `"` + strings.Repeat("x", job.MaxEffectResultBytes-2) + `"`
		for result, want := range map[string]json.RawMessage{
			`,"result":{"id":"ch_81"}`: json.RawMessage(`{"id":"ch_81"}`), `,"result":` + long: json.RawMessage(long), ``: nil,
		} {
			status, body := c.do("POST", "/v1/dead-letters/dl_1/reconcile",
				`{"actor":"ana","reason":"asked the bank","effect":"charge","happened":true`+result+`}`)
			require.Equal(t, 200, status, body)
			require.Equal(t, job.RequestReconcile, f.kinds[len(f.kinds)-1])
			require.Equal(t, job.Request{
				Actor: "ana", Reason: "asked the bank", Effect: "charge", Happened: new(true), Result: want,
			}, f.sent[len(f.sent)-1])
		}
	})

	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		f := &fakes{decision: job.Decision{RequestID: "req-1", Refusal: &job.Refusal{
			Code: job.RefusedVersionUnchanged, Detail: "version v1 is among those that failed",
		}}}
		status, body := newAPI(t, f, nil).do("POST", "/v1/dead-letters/dl_1/replay", ask)
		require.Equal(t, 409, status)
		require.JSONEq(t, `{"title":"Conflict","status":409,"code":"version_unchanged",`+
			`"detail":"version v1 is among those that failed","request_id":"req-1"}`, body)
	})

	t.Run("Pending", func(t *testing.T) {
		t.Parallel()
		status, body := newAPI(t, &fakes{pending: true}, nil).do("POST", "/v1/dead-letters/dl_1/replay", ask)
		require.Equal(t, 202, status)
		require.JSONEq(t, `{"request_id":"req-1","decision":"pending"}`, body)
	})
}
