package job_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestPolicyValidate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		give  job.Policy
		field string // the first field of the refusal; empty when the policy is allowed
	}{
		{"Zero", job.Policy{}, ""},
		{"Defaults", job.DefaultPolicy(), ""},
		{"ShortestLease", job.Policy{Lease: job.MinLease}, ""},
		{"TimeoutIsLease", job.Policy{Lease: time.Minute, Timeout: time.Minute}, ""},
		{"OneAttempt", job.Policy{MaxAttempts: 1}, ""},
		{"LastPriority", job.Policy{Priority: 5}, ""},
		{"LeaseTooShort", job.Policy{Lease: job.MinLease - 1}, "lease"},
		{"LeaseNegative", job.Policy{Lease: -time.Minute}, "lease"},
		{"TimeoutBelowLease", job.Policy{Timeout: 29 * time.Second}, "timeout"},
		{"StallTooShort", job.Policy{Stall: 999 * time.Millisecond}, "stall"},
		{"LeaseAboveDefaultTimeout", job.Policy{Lease: time.Hour}, "timeout"},
		{"DeadlineBelowTimeout", job.Policy{Deadline: time.Minute}, "deadline"},
		{"DeadlineNegative", job.Policy{Deadline: -1}, "deadline"},
		{"AttemptsNegative", job.Policy{MaxAttempts: -1}, "max_attempts"},
		{"AttemptsTooMany", job.Policy{MaxAttempts: 1001}, "max_attempts"},
		{"LeaseLossesNegative", job.Policy{MaxLeaseLosses: -1}, "max_lease_losses"},
		{"ThrottleNegative", job.Policy{Throttle: job.ThrottlePolicy{MaxAge: -1}}, "throttle.max_age"},
		{"ReplaysNegative", job.Policy{Replay: job.ReplayPolicy{Max: -1}}, "replay.max"},
		{"ReplaysTooMany", job.Policy{Replay: job.ReplayPolicy{Max: 101}}, "replay.max"},
		{"ReplayWaitNegative", job.Policy{Replay: job.ReplayPolicy{MinWait: -1}}, "replay.max_wait"},
		{"ReplayWaitCrossed", job.Policy{Replay: job.ReplayPolicy{MinWait: time.Hour, MaxWait: time.Minute}}, "replay.max_wait"},
		{"RetentionNegative", job.Policy{Retention: -1}, "retention"},
		{"KeyTTLWithinTheHorizon", job.Policy{KeyTTL: 2208 * time.Hour}, "key_ttl"},
		{"DeadlineBeyondKeyTTL", job.Policy{Deadline: 121 * time.Hour}, "key_ttl"},
		{"DedupeUnknown", job.Policy{Dedupe: "both"}, "dedupe"},
		{"KeyTTLNegative", job.Policy{KeyTTL: -1}, "retention"},
		{"PriorityNegative", job.Policy{Priority: -1}, "priority"},
		{"PriorityTooLow", job.Policy{Priority: 6}, "priority"},
		{"BackoffBelowMillisecond", job.Policy{Backoff: job.Backoff{Base: time.Microsecond}}, "backoff.base"},
		{"BackoffCrossed", job.Policy{Backoff: job.Backoff{Base: time.Hour}}, "backoff.base"},
		{"BackoffCapNegative", job.Policy{Backoff: job.Backoff{Cap: -1}}, "backoff.base"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.give.Validate()
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			var refusal *job.PolicyError
			require.True(t, errors.As(err, &refusal), "%v is a *PolicyError", err)
			require.ErrorIs(t, err, job.ErrInvalidPolicy)
			require.Equal(t, c.field, refusal.Fields[0])
			require.ErrorContains(t, err, refusal.Reason)
		})
	}
}

func TestPolicyWithDefaults(t *testing.T) {
	t.Parallel()
	t.Run("FillsEveryNumber", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, job.Policy{
			Lease: 30 * time.Second, Timeout: 10 * time.Minute, Stall: 87600 * time.Hour, Deadline: 24 * time.Hour, MaxAttempts: 10, MaxLeaseLosses: 3,
			Backoff:   job.Backoff{Base: time.Second, Cap: 5 * time.Minute},
			Throttle:  job.ThrottlePolicy{MaxAge: 6 * time.Hour},
			Replay:    job.ReplayPolicy{Max: 5, MinWait: time.Minute, MaxWait: 24 * time.Hour},
			Retention: 2160 * time.Hour, KeyTTL: 2400 * time.Hour, Dedupe: job.DedupeTemporal, PlainStart: job.PlainStartRefuse, Vault: job.VaultLarge, Priority: 3,
		}, job.DefaultPolicy())
	})
	t.Run("KeepsWhatIsSet", func(t *testing.T) {
		t.Parallel()
		own := job.Policy{Lease: time.Minute, MaxAttempts: 2, Backoff: job.Backoff{Cap: time.Minute}, Priority: 1}
		full := own.WithDefaults()
		require.Equal(t, []any{time.Minute, 2, time.Minute, 1}, []any{full.Lease, full.MaxAttempts, full.Backoff.Cap, full.Priority})
		require.Equal(t, full, full.WithDefaults())
	})
	t.Run("ZeroIsZero", func(t *testing.T) {
		t.Parallel()
		require.True(t, job.Policy{}.IsZero())
		require.False(t, job.DefaultPolicy().IsZero())
	})
}

func TestPoliciesFor(t *testing.T) {
	t.Parallel()
	set := job.Policies{
		Default: job.Policy{MaxAttempts: 3, Lease: time.Minute},
		ByType:  map[job.Type]job.Policy{"email.send": {MaxAttempts: 7}},
	}
	t.Run("OwnPolicyStandsAlone", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, job.Policy{MaxAttempts: 7}.WithDefaults(), set.For("email.send"))
	})
	t.Run("OthersGetTheDefault", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, set.Default.WithDefaults(), set.For("sms.send"))
	})
	t.Run("EmptySetHasTheDocumentedOne", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, job.DefaultPolicy(), job.Policies{}.For("email.send"))
	})
}

func TestLimitsUntil(t *testing.T) {
	t.Parallel()
	p := job.DefaultPolicy()
	require.Equal(t, job.Limits{
		MaxAttempts: p.MaxAttempts, MaxLeaseLosses: p.MaxLeaseLosses, Timeout: p.Timeout, Stall: p.Stall, Backoff: p.Backoff, ThrottleMaxAge: p.Throttle.MaxAge, Deadline: started,
		KeyTTL: 2400 * time.Hour, Dedupe: job.DedupeTemporal, PlainStart: job.PlainStartRefuse,
	}, p.LimitsUntil(started.Add(-time.Hour), started))
	late := p.LimitsUntil(started, started.Add(1024*time.Hour))
	require.Equal(t, 3400*time.Hour, late.KeyTTL, "a job with a later deadline than the policy's is remembered for as much longer")
}

func TestDefinitionValidate(t *testing.T) {
	t.Parallel()
	ok := job.Definition{Type: "email.send", Effects: job.EffectsLedger, Owner: "mail team"}
	for _, c := range []struct {
		name string
		edit func(*job.Definition)
		kind error
		says string
	}{
		{"OK", func(*job.Definition) {}, nil, ""},
		{"NoType", func(d *job.Definition) { d.Type = "" }, job.ErrInvalidKey, "type is empty"},
		{"NoEffects", func(d *job.Definition) { d.Effects = "" }, job.ErrInvalidDefinition, "downstream_key"},
		{"UnknownEffects", func(d *job.Definition) { d.Effects = "hope" }, job.ErrInvalidDefinition, `"hope"`},
		{"NoOwner", func(d *job.Definition) { d.Owner = "" }, job.ErrInvalidDefinition, "no owner"},
		{"VersionZero", func(d *job.Definition) { d.SchemaVersions = []int{1, 0} }, job.ErrInvalidDefinition, "schema version 0"},
		{"BadPolicy", func(d *job.Definition) { d.Policy.Priority = 9 }, job.ErrInvalidPolicy, "email.send"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := ok
			c.edit(&d)
			requireRefusal(t, d.Validate(), c.kind, c.says)
		})
	}
	t.Run("SupportsVersionOneByDefault", func(t *testing.T) {
		t.Parallel()
		require.True(t, ok.WithDefaults().Supports(1))
		require.False(t, ok.WithDefaults().Supports(2))
	})
}
