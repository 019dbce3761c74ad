package starter_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/mocks"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/starter"
)

const secret = "ada@example.org"

// newClient returns a client whose Temporal fails the test on any call, since none is expected.
func newClient(t *testing.T) *starter.Client {
	t.Helper()
	temporal := &mocks.Client{}
	temporal.Test(t)
	t.Cleanup(func() { require.Empty(t, temporal.Calls) })
	return starter.New(temporal, starter.Options{Screen: func(key string) (string, bool) {
		return "an email address", strings.Contains(key, "@")
	}})
}

func TestEnqueueRefusesBeforeAnyCall(t *testing.T) {
	t.Parallel()
	small := map[string]any{"password": secret}
	for name, c := range map[string]struct {
		jobType job.Type
		key     job.Key
		payload any
		options starter.EnqueueOptions
		want    error
	}{
		"OversizedPayload":     {"email.send", "a", strings.Repeat("x", job.MaxPayloadBytes), starter.EnqueueOptions{}, job.ErrInvalidEnvelope},
		"Channel":              {"email.send", "a", make(chan int), starter.EnqueueOptions{}, job.ErrInvalidEnvelope},
		"NaN":                  {"email.send", "a", math.NaN(), starter.EnqueueOptions{}, job.ErrInvalidEnvelope},
		"EmptyKey":             {"email.send", "", small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"KeyWithSlash":         {"email.send", "a/b", small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"KeyWithNewline":       {"email.send", "a\nb", small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"LongKey":              {"email.send", job.Key(strings.Repeat("k", 240)), small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"BadType":              {"Email", "a", small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"ReservedType":         {"store", "a", small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"ScreenedKey":          {"email.send", "for-" + secret, small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"ScreenedKeyChannel":   {"email.send", "for-" + secret, make(chan int), starter.EnqueueOptions{}, job.ErrInvalidEnvelope},
		"ScreenedKeyLate":      {"email.send", "for-" + secret, small, starter.EnqueueOptions{Priority: 9}, job.ErrInvalidKey},
		"ScreenedKeyBadType":   {"Email", "for-" + secret, small, starter.EnqueueOptions{}, job.ErrInvalidKey},
		"ScreenedKeyOversized": {"email.send", "for-" + secret, strings.Repeat("x", job.MaxPayloadBytes), starter.EnqueueOptions{}, job.ErrInvalidEnvelope},
		"DeadlineInThePast":    {"email.send", "a", small, starter.EnqueueOptions{Deadline: time.Now().Add(-time.Hour)}, starter.ErrInvalidOptions},
		"DeadlineBeforeStart":  {"email.send", "a", small, starter.EnqueueOptions{Deadline: time.Now().Add(time.Hour), Delay: 2 * time.Hour}, starter.ErrInvalidOptions},
		"Priority9":            {"email.send", "a", small, starter.EnqueueOptions{Priority: 9}, starter.ErrInvalidOptions},
		"NegativePriority":     {"email.send", "a", small, starter.EnqueueOptions{Priority: -1}, starter.ErrInvalidOptions},
		"NegativeDelay":        {"email.send", "a", small, starter.EnqueueOptions{Delay: -time.Second}, starter.ErrInvalidOptions},
		"NegativeSchema":       {"email.send", "a", small, starter.EnqueueOptions{SchemaVersion: -1}, job.ErrInvalidEnvelope},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := starter.Enqueue(t.Context(), newClient(t), c.jobType, c.key, c.payload, c.options)
			require.ErrorIs(t, err, c.want)
			require.NotContains(t, err.Error(), secret, "neither payload nor a screened key is quoted")
			require.Less(t, len(err.Error()), 1000)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestStartRefusesBeforeAnyCall(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]job.Envelope{
		"NoPayload":      {Type: "email.send", Key: "a"},
		"Both":           {Type: "email.send", Key: "a", Payload: []byte(`{}`), PayloadRef: "pl_1"},
		"PayloadNotJSON": {Type: "email.send", Key: "a", Payload: []byte(`{"password":` + secret)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newClient(t).Start(context.Background(), e, starter.EnqueueOptions{})
			require.ErrorIs(t, err, job.ErrInvalidEnvelope)
			require.NotContains(t, err.Error(), secret)
		})
	}
}
