package vault_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/vault"
)

const canary = "c4nary-7d1f"

func inWorkflow(id string) converter.SerializationContext {
	return converter.WorkflowSerializationContext{Namespace: "default", WorkflowID: id}
}

func inActivity(id string) converter.SerializationContext {
	return converter.ActivitySerializationContext{Namespace: "default", WorkflowID: id, ActivityType: "email.send"}
}

// bound is the converter of a protected client in a context; nil is none.
func bound(keys *vault.Keyset, in converter.SerializationContext) converter.DataConverter {
	data := vault.Protect(client.Options{}, keys).DataConverter
	if in == nil {
		return data
	}
	return converter.WithDataConverterSerializationContext(data, in)
}

func encrypted(t *testing.T, keys *vault.Keyset, in converter.SerializationContext, value any) *commonpb.Payload {
	t.Helper()
	p, err := bound(keys, in).ToPayload(value)
	require.NoError(t, err)
	require.Equal(t, job.EncodingEncrypted, string(p.GetMetadata()[converter.MetadataEncoding]))
	require.NotContains(t, p.String(), canary)
	return p
}

func TestPrivacyCodecBindsAPayloadToItsJob(t *testing.T) {
	t.Parallel()
	keys := newKeyset(t)
	p := encrypted(t, keys, inWorkflow("job:email.send:a"), canary)
	require.Equal(t, "job:email.send:a", string(p.GetMetadata()[job.MetadataBinding]))
	require.Equal(t, keys.ID(), string(p.GetMetadata()[job.MetadataKeyID]))
	for name, c := range map[string]struct {
		in    converter.SerializationContext
		opens bool
	}{
		"TheSameWorkflow":   {inWorkflow("job:email.send:a"), true},
		"ItsActivity":       {inActivity("job:email.send:a"), true},
		"ItsReplay":         {inWorkflow("replay:email.send:a"), true},
		"NoContext":         {nil, true},
		"AnotherKey":        {inWorkflow("job:email.send:b"), false},
		"AnotherType":       {inActivity("job:webhook:a"), false},
		"SomeOtherWorkflow": {inWorkflow("email.send:a"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text string
			err := bound(keys, c.in).FromPayload(p, &text)
			if c.opens {
				require.NoError(t, err)
				require.Equal(t, canary, text)
				return
			}
			require.ErrorIs(t, err, vault.ErrForged)
			var taskFailure *converter.WorkflowTaskFailureError
			require.NotErrorAs(t, err, &taskFailure, "trying again does not help")
			require.Empty(t, text)
		})
	}
	t.Run("ChangingTheBindingDoesNotHelp", func(t *testing.T) {
		t.Parallel()
		stolen := proto.CloneOf(p)
		stolen.Metadata[job.MetadataBinding] = []byte("job:email.send:b")
		var text string
		require.ErrorIs(t, bound(keys, inWorkflow("job:email.send:b")).FromPayload(stolen, &text), vault.ErrForged)
		require.ErrorIs(t, bound(keys, nil).FromPayload(stolen, &text), vault.ErrForged)
	})
	t.Run("OneWithoutABindingIsNobodys", func(t *testing.T) {
		t.Parallel()
		var text string
		unbound := encrypted(t, keys, nil, canary)
		require.NoError(t, bound(keys, nil).FromPayload(unbound, &text))
		require.ErrorIs(t, bound(keys, inWorkflow("job:email.send:a")).FromPayload(unbound, &text), vault.ErrForged)
	})
}

func TestPrivacyCodecRoundTrip(t *testing.T) {
	t.Parallel()
	codec := vault.NewCodec(newKeyset(t))
	rapid.Check(t, func(rt *rapid.T) {
		given := &commonpb.Payload{
			Metadata: rapid.MapOf(rapid.StringMatching(`[a-z]{1,9}`), rapid.SliceOf(rapid.Byte())).Draw(rt, "metadata"),
			Data:     rapid.SliceOf(rapid.Byte()).Draw(rt, "data"),
		}
		before := proto.CloneOf(given)
		sealed, err := codec.Encode([]*commonpb.Payload{given})
		require.NoError(rt, err)
		opened, err := codec.Decode(sealed)
		require.NoError(rt, err)
		require.NotEmpty(rt, opened[0].GetMetadata()[job.MetadataDecrypted])
		delete(opened[0].Metadata, job.MetadataDecrypted)
		require.True(rt, bytes.Equal(given.GetData(), opened[0].GetData()))
		require.Len(rt, opened[0].GetMetadata(), len(given.GetMetadata()))
		require.True(rt, proto.Equal(before, given), "the codec changed what it was given")

		bit := rapid.IntRange(0, 8*len(sealed[0].GetData())-1).Draw(rt, "bit")
		sealed[0].Data[bit/8] ^= 1 << (bit % 8)
		_, err = codec.Decode(sealed)
		require.ErrorIs(rt, err, vault.ErrForged)
	})
}

// Operators' signals are plain JSON, also when payload encryption is on. Nobody but the codec can say that a payload was
// encrypted.
func TestPrivacyCodecPassesPlainPayloadsThrough(t *testing.T) {
	t.Parallel()
	codec := vault.NewCodec(newKeyset(t))
	for name, p := range map[string]*commonpb.Payload{
		"JSON":       {Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`{}`)},
		"Foreign":    {Metadata: map[string][]byte{"encoding": []byte("binary/encrypted")}, Data: []byte{1, 2}},
		"NoMetadata": {Data: []byte("x")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := codec.Decode([]*commonpb.Payload{p})
			require.NoError(t, err)
			require.True(t, proto.Equal(p, out[0]))
		})
	}
	for _, mark := range []string{job.MetadataDecrypted, job.MetadataUnopened} {
		lie := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain"), mark: []byte("1")}, Data: []byte(`{}`)}
		out, err := codec.Decode([]*commonpb.Payload{lie})
		require.NoError(t, err)
		require.NotContains(t, out[0].GetMetadata(), mark)
		require.Contains(t, lie.GetMetadata(), mark, "what was given is somebody else's")
	}
}

func TestPrivacyRawValueThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	before := newKeyset(t)
	rotated, err := before.Rotate()
	require.NoError(t, err)
	destroyed, err := rotated.Destroy(before.ID())
	require.NoError(t, err)
	p := encrypted(t, before, inWorkflow("job:email.send:a"), canary)
	for reason, data := range map[string]converter.DataConverter{
		job.UnopenedForged:       bound(before, inWorkflow("job:email.send:b")),
		job.UnopenedKeyDestroyed: bound(destroyed, inWorkflow("job:email.send:a")),
	} {
		var one, first, second converter.RawValue
		require.NoError(t, data.FromPayload(p, &one))
		require.Equal(t, reason, string(one.Payload().GetMetadata()[job.MetadataUnopened]))
		plain, err := converter.GetDefaultDataConverter().ToPayload("plain")
		require.NoError(t, err)
		require.NoError(t, data.FromPayloads(&commonpb.Payloads{Payloads: []*commonpb.Payload{p, plain}}, &first, &second))
		require.Equal(t, reason, string(first.Payload().GetMetadata()[job.MetadataUnopened]))
		require.Equal(t, `"plain"`, string(second.Payload().GetData()))
		var text string
		require.ErrorIs(t, data.FromPayload(p, &text), job.ErrPayloadGone)
		require.NotContains(t, p.GetMetadata(), job.MetadataUnopened)
	}
}

// A key that this process does not know may be known to another, or to this one after a restart.
func TestPrivacyUnknownKeyMayHeal(t *testing.T) {
	t.Parallel()
	p := encrypted(t, newKeyset(t), inWorkflow("job:email.send:a"), canary)
	var raw converter.RawValue
	err := bound(newKeyset(t), inWorkflow("job:email.send:a")).FromPayload(p, &raw)
	require.ErrorIs(t, err, vault.ErrUnknownKey)
	require.NotErrorIs(t, err, job.ErrPayloadGone)
	var taskFailure *converter.WorkflowTaskFailureError
	require.ErrorAs(t, err, &taskFailure)
}

func TestPrivacyFailuresAreEncrypted(t *testing.T) {
	t.Parallel()
	options := vault.Protect(client.Options{}, newKeyset(t))
	failures := converter.WithFailureConverterSerializationContext(options.FailureConverter, inActivity("job:email.send:a"))
	failure := failures.ErrorToFailure(temporal.NewApplicationError("cannot log in with "+canary, "rejected", canary))
	require.NotContains(t, failure.String(), canary)
	require.Equal(t, "rejected", failure.GetApplicationFailureInfo().GetType())
	for _, p := range []*commonpb.Payload{failure.GetEncodedAttributes(), failure.GetApplicationFailureInfo().GetDetails().GetPayloads()[0]} {
		require.Equal(t, "job:email.send:a", string(p.GetMetadata()[job.MetadataBinding]))
	}
	var app *temporal.ApplicationError
	require.True(t, errors.As(failures.FailureToError(failure), &app))
	require.Equal(t, "cannot log in with "+canary, app.Message())
	var detail string
	require.NoError(t, app.Details(&detail))
	require.Equal(t, canary, detail)
}
