package activities_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

func TestPrivacyOpenRequest(t *testing.T) {
	t.Parallel()
	keys, err := vault.GenerateKeyset()
	require.NoError(t, err)
	data := vault.Protect(client.Options{}, keys).DataConverter
	letters, err := activities.NewDeadLetters(activities.DeadLettersOptions{DataConverter: data})
	require.NoError(t, err)
	seal := func(keys *vault.Keyset, workflowID string, value any) []byte {
		bound := converter.WithDataConverterSerializationContext(vault.Protect(client.Options{}, keys).DataConverter,
			converter.WorkflowSerializationContext{WorkflowID: workflowID})
		p, err := bound.ToPayload(value)
		require.NoError(t, err)
		raw, err := proto.Marshal(p)
		require.NoError(t, err)
		return raw
	}
	other, err := vault.GenerateKeyset()
	require.NoError(t, err)
	broken, err := proto.Marshal(&commonpb.Payload{
		Metadata: map[string][]byte{
			"encoding": []byte(job.EncodingEncrypted), job.MetadataKeyID: []byte(keys.ID()),
			job.MetadataBinding: []byte(job.PayloadBinding(orderID.ReplayWorkflowID())),
		},
		Data: []byte("garbage"),
	})
	require.NoError(t, err)
	here := orderID.ReplayWorkflowID()
	for name, c := range map[string]struct {
		payload []byte
		refusal string
	}{
		"OK":             {seal(keys, here, map[string]string{"actor": "ada"}), ""},
		"OfItsJob":       {seal(keys, orderID.JobWorkflowID(), map[string]string{"actor": "ada"}), ""},
		"OfAnotherJob":   {seal(keys, "replay:email.send:other", map[string]string{"actor": "ada"}), "it does not decrypt: forged"},
		"Garbage":        {broken, "it does not decrypt: forged"},
		"NotJSON":        {seal(keys, here, []byte{1, 2}), "what was encrypted is not JSON"},
		"NotEvenPayload": {[]byte("\xff\xff"), "it is not a payload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened, err := letters.OpenRequest(t.Context(), job.SealedRequest{WorkflowID: here, Payload: c.payload})
			require.NoError(t, err)
			require.Equal(t, c.refusal, opened.Refusal)
			if c.refusal == "" {
				require.JSONEq(t, `{"actor":"ada"}`, string(opened.Input))
			}
		})
	}
	t.Run("UnknownKeyIsAskedAgain", func(t *testing.T) {
		t.Parallel()
		_, err := letters.OpenRequest(t.Context(), job.SealedRequest{WorkflowID: here, Payload: seal(other, here, "x")})
		require.ErrorIs(t, err, vault.ErrUnknownKey)
	})
}

// counted is an observer of privacy events.
type counted struct {
	job.Unobserved
	events []job.PrivacyEvent
}

func (c *counted) Privacy(_ job.Type, event job.PrivacyEvent) { c.events = append(c.events, event) }

func TestPrivacyPlainStart(t *testing.T) {
	t.Parallel()
	plain := func(a *job.Assignment) { a.Plain = true }
	allowed := func(a *job.Assignment) { a.Limits.PlainStart = job.PlainStartAllow }
	ofAnOldBuild := func(a *job.Assignment) { a.Limits.PlainStart = "" }
	for name, c := range map[string]struct {
		encrypted bool
		change    []func(*job.Assignment)
		events    []job.PrivacyEvent
		refused   bool
	}{
		"Refused":              {true, []func(*job.Assignment){plain}, []job.PrivacyEvent{job.PrivacyPlainStartRefused}, true},
		"RefusedIfNobodySaid":  {true, []func(*job.Assignment){plain, ofAnOldBuild}, []job.PrivacyEvent{job.PrivacyPlainStartRefused}, true},
		"Allowed":              {true, []func(*job.Assignment){plain, allowed}, []job.PrivacyEvent{job.PrivacyPlainStartAllowed}, false},
		"Encrypted":            {true, nil, nil, false},
		"NothingIsEncrypted":   {false, []func(*job.Assignment){plain}, nil, false},
		"NothingAndNobodySaid": {false, []func(*job.Assignment){plain, ofAnOldBuild}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := &counted{}
			ran := false
			f := newFixture(t, activities.RunnerOptions{Encrypted: c.encrypted, Observer: seen}, failing(func() error {
				ran = true
				return nil
			}))
			if c.refused {
				v := f.fail(t, assignment(c.change...))
				require.Equal(t, job.ClassInvalidPayload, v.Class)
				require.True(t, v.Final)
				require.Equal(t, job.CausePoison, v.Report.Cause)
				require.Zero(t, v.Report.Log.Counted)
			} else {
				_, err := f.ExecuteActivity(string(orderType), assignment(c.change...))
				require.NoError(t, err)
			}
			require.Equal(t, !c.refused, ran)
			require.Equal(t, c.events, seen.events)
		})
	}
	var a job.Assignment
	require.NoError(t, json.Unmarshal([]byte(`{"envelope":{},"limits":{}}`), &a), "an assignment of an older build")
	require.False(t, a.Plain)
}
