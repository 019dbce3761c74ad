package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/activities"
	"github.com/redrivehq/redrive/job"
)

type openFunc func(ref job.PayloadRef) ([]byte, error)

func (f openFunc) Open(_ context.Context, ref job.PayloadRef, _ job.KeyID) ([]byte, error) {
	return f(ref)
}

func byReference(a *job.Assignment) { a.Envelope.Payload, a.Envelope.PayloadRef = nil, "pl_1" }

func TestPayloadReferences(t *testing.T) {
	t.Parallel()
	never := func(context.Context, anyPayload) (any, error) { panic("the handler has no payload") }

	t.Run("Opened", func(t *testing.T) {
		t.Parallel()
		vault := openFunc(func(ref job.PayloadRef) ([]byte, error) { return []byte(`{"ref":"` + string(ref) + `"}`), nil })
		f := newFixture(t, activities.RunnerOptions{Payloads: vault},
			func(_ context.Context, p anyPayload) (any, error) { return p, nil })
		value, err := f.ExecuteActivity(string(orderType), assignment(byReference))
		require.NoError(t, err)
		var got anyPayload
		require.NoError(t, value.Get(&got))
		require.Equal(t, anyPayload{"ref": "pl_1"}, got)
	})
	t.Run("SecretsOfAnOpenedPayloadAreScrubbed", func(t *testing.T) {
		t.Parallel()
		vault := openFunc(func(job.PayloadRef) ([]byte, error) { return []byte(`{"password":"` + secret + `"}`), nil })
		f := newFixture(t, activities.RunnerOptions{Payloads: vault}, failing(panicking("login with "+secret)))
		f.search(t, f.fail(t, assignment(byReference)), secret)
	})
	t.Run("Gone", func(t *testing.T) {
		t.Parallel()
		vault := openFunc(func(job.PayloadRef) ([]byte, error) { return nil, fmt.Errorf("open: %w", job.ErrPayloadGone) })
		f := newFixture(t, activities.RunnerOptions{Payloads: vault}, never)
		f.SetHeartbeatDetails(job.Report{Log: logged(2)})
		got := f.fail(t, assignment(byReference))
		require.Equal(t, job.ClassPayloadUnavailable, got.Class)
		require.Equal(t, job.CausePayloadUnavailable, got.Report.Cause)
		require.True(t, got.Final)
		require.Equal(t, 2, got.Report.Log.Counted)
	})
	down := openFunc(func(job.PayloadRef) ([]byte, error) { return nil, errors.New("connection refused " + secret) })
	for name, c := range map[string]struct {
		options    activities.RunnerOptions
		handedBack string
	}{
		"NoVault":   {activities.RunnerOptions{}, job.HandedBackNoVault},
		"VaultDown": {activities.RunnerOptions{Payloads: down}, "vault"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, c.options, never)
			f.SetHeartbeatDetails(job.Report{Log: logged(2)})
			got := f.fail(t, assignment(byReference))
			require.Equal(t, job.ClassTransient, got.Class)
			require.Equal(t, c.handedBack, got.Report.HandedBack)
			require.True(t, got.Benign)
			require.False(t, got.Final)
			require.Equal(t, logged(2), got.Report.Log)
			f.search(t, got, secret)
		})
	}
}

type checked struct {
	To string `json:"to"`
}

func (c *checked) Validate() error {
	if c.To == "" || strings.Contains(c.To, "@") {
		return errors.New("address of " + c.To)
	}
	return nil
}

type numeric struct {
	Password int `json:"password"`
}

type panickyValidate struct{}

func (panickyValidate) Validate() error { panic("validate " + secret) }

func TestPayloadsThatAreRefused(t *testing.T) {
	t.Parallel()
	t.Run("ByValidate", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, checked) (any, error) { return nil, nil })
		got := f.fail(t, assignment())
		require.Equal(t, job.ClassInvalidPayload, got.Class)
		require.Equal(t, job.CausePoison, got.Report.Cause)
		f.search(t, got, "a@example.org")
	})
	t.Run("ByTheDecoder", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, numeric) (any, error) { return nil, nil })
		got := f.fail(t, assignment())
		require.Equal(t, job.ClassInvalidPayload, got.Class)
		f.search(t, got, secret)
	})
	t.Run("ByTheDecoderWithANumber", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, numeric) (any, error) { return nil, nil })
		got := f.fail(t, assignment(func(a *job.Assignment) {
			a.Envelope.Payload = json.RawMessage(`{"password":90210443.5}`)
		}))
		require.Equal(t, job.ClassInvalidPayload, got.Class)
		f.search(t, got, "90210443")
	})
	t.Run("ByAValidateThatPanics", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, panickyValidate) (any, error) { return nil, nil })
		got := f.fail(t, assignment())
		require.Equal(t, job.ClassHandlerDefect, got.Class)
		f.search(t, got, secret)
	})
	t.Run("ByTheSchemaVersion", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, activities.RunnerOptions{}, func(context.Context, anyPayload) (any, error) { return nil, nil })
		got := f.fail(t, assignment(func(a *job.Assignment) { a.Envelope.SchemaVersion = 2 }))
		require.Equal(t, job.ClassUnsupportedSchema, got.Class)
		require.True(t, got.Final)
		require.Contains(t, got.Message, "schema version 2")
	})
}

func TestSecretsNeverLeave(t *testing.T) {
	t.Parallel()
	for name, spelled := range map[string]string{
		"as it is": secret, "quoted": fmt.Sprintf("%q", secret), "in a URL": "https://x.example/?p=" + url.QueryEscape(secret),
		"among others": strings.Repeat("a b c ", 300) + secret + " z",
	} {
		for how, make := range map[string]func(string) func() error{
			"Error":  func(s string) func() error { return returning(errors.New("login failed: " + s)) },
			"Panic":  func(s string) func() error { return panicking("login failed: " + s) },
			"PanicV": func(s string) func() error { return panicking(struct{ Text string }{s}) },
			"Final":  func(s string) func() error { return returning(job.Rejected(fmt.Errorf("deep: %w", errors.New(s)))) },
		} {
			t.Run(how+" "+name, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, activities.RunnerOptions{}, failing(make(spelled)))
				f.search(t, f.fail(t, assignment()), secret)
			})
		}
	}
}
