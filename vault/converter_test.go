package vault_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	sdktestsuite "go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/redrivehq/redrive/vault"
)

var errKMS = errors.New("kms is down")

// codec reverses bytes, or behaves as badly as its modes say. It is not comparable, as a user's may be.
type codec struct {
	encode, decode string
	_              []byte
	seen           func(converter.SerializationContext)
}

func (c codec) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return behave(c.encode, in)
}

func (c codec) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return behave(c.decode, in)
}

func (c codec) WithSerializationContext(ctx converter.SerializationContext) converter.PayloadCodec {
	if c.seen != nil {
		c.seen(ctx)
	}
	return c
}

func behave(mode string, in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	switch mode {
	case "fail":
		return in, errKMS
	case "panic":
		panic("secret of the codec")
	case "lose":
		return nil, nil
	}
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		out[i] = &commonpb.Payload{Metadata: p.GetMetadata(), Data: reversed(p.GetData())}
	}
	return out, nil
}

func reversed(data []byte) []byte {
	out := make([]byte, len(data))
	for i, b := range data {
		out[len(data)-1-i] = b
	}
	return out
}

func newConverter(c codec) converter.DataConverter {
	return vault.DataConverter(converter.GetDefaultDataConverter(), c)
}

func TestDataConverter(t *testing.T) {
	t.Parallel()
	good := newConverter(codec{})
	sealed, err := good.ToPayloads("hello", 7)
	require.NoError(t, err)
	require.Equal(t, `"olleh"`, string(sealed.GetPayloads()[0].GetData()))

	t.Run("RoundTrip", func(t *testing.T) {
		t.Parallel()
		var text string
		var n int
		require.NoError(t, good.FromPayloads(sealed, &text, &n))
		require.Equal(t, "hello", text)
		require.Equal(t, 7, n)
	})
	for _, mode := range []string{"fail", "panic", "lose"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			bad := newConverter(codec{encode: mode, decode: mode})
			_, encodeErr := bad.ToPayload("hello")
			_, encodeAllErr := bad.ToPayloads("hello")
			var text string
			errs := []error{
				encodeErr, encodeAllErr,
				bad.FromPayload(sealed.GetPayloads()[0], &text), bad.FromPayloads(sealed, &text),
			}
			for i, err := range errs {
				var taskFailure *converter.WorkflowTaskFailureError
				require.ErrorAs(t, err, &taskFailure, i)
				require.Equal(t, mode == "fail", errors.Is(err, errKMS), i)
				require.NotContains(t, err.Error(), "secret of the codec")
			}
			require.NotContains(t, bad.ToString(sealed.GetPayloads()[0]), "hello")
		})
	}
	t.Run("NoCodec", func(t *testing.T) {
		t.Parallel()
		_, err := vault.DataConverter(converter.GetDefaultDataConverter(), nil).ToPayload("hello")
		var taskFailure *converter.WorkflowTaskFailureError
		require.ErrorAs(t, err, &taskFailure)
	})
	t.Run("ContextPanics", func(t *testing.T) {
		t.Parallel()
		seen := func(converter.SerializationContext) { panic("secret of the codec") }
		bound := newConverter(codec{seen: seen}).(converter.DataConverterWithSerializationContext).
			WithSerializationContext(converter.WorkflowSerializationContext{})
		_, err := bound.ToPayload("hello")
		var taskFailure *converter.WorkflowTaskFailureError
		require.ErrorAs(t, err, &taskFailure)
		require.NotContains(t, err.Error(), "secret of the codec")
	})
	t.Run("PassesTheSerializationContext", func(t *testing.T) {
		t.Parallel()
		var got converter.SerializationContext
		contextual, ok := newConverter(codec{seen: func(c converter.SerializationContext) { got = c }}).(converter.DataConverterWithSerializationContext)
		require.True(t, ok)
		want := converter.WorkflowSerializationContext{Namespace: "default", WorkflowID: "job:a:b"}
		_, err := contextual.WithSerializationContext(want).ToPayload("x")
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

// TestWorkflowTaskFails runs a workflow that handles every error. It must not get to handle the codec's: the SDK's test
// environment, which cannot retry a task, then reports the request to fail it.
func TestWorkflowTaskFails(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"fail", "panic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			var suite sdktestsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			env.SetDataConverter(newConverter(codec{}))
			env.RegisterActivity(greet)
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				ctx = workflow.WithDataConverter(ctx, newConverter(codec{decode: mode}))
				ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 1e9})
				var text string
				_ = workflow.ExecuteActivity(ctx, greet).Get(ctx, &text)
				return nil
			})
			var taskFailure *converter.WorkflowTaskFailureError
			require.ErrorAs(t, env.GetWorkflowError(), &taskFailure)
		})
	}
}

func greet(context.Context) (string, error) { return "hello", nil }
