package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func newEffectID() job.EffectID {
	return job.EffectID{Namespace: "default", Job: job.KeyID{Type: "email.send", Key: "order-1001.receipt"}, Name: "charge"}
}

func TestEffectListsHoldEveryConstant(t *testing.T) {
	t.Parallel()
	declared := declaredConstants(t)
	require.ElementsMatch(t, declared["EffectState"], text(job.AllEffectStates()))
	require.ElementsMatch(t, declared["EffectEvent"], text(job.AllEffectEvents()))
}

func TestEffectName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"a": true, "charge": true, "mail.7": true, "a_b-c.0": true, strings.Repeat("x", 64): true,
		"": false, strings.Repeat("x", 65): false, "Charge": false, "a b": false, "a/b": false, "é": false, "a\x00": false, "a:b": false,
	} {
		id := newEffectID()
		id.Name = name
		err := id.Validate()
		if ok {
			require.NoError(t, err, "%q", name)
			continue
		}
		require.ErrorIs(t, err, job.ErrInvalidEffect, "%q", name)
	}
}

func TestDownstreamKey(t *testing.T) {
	t.Parallel()
	id := newEffectID()
	require.Equal(t, "rd_5rhgmypkbnusbm5cdwhhb6xmkl", id.DownstreamKey(), "stored by the systems that are called: it must never change")
	seen := map[string]bool{id.DownstreamKey(): true}
	for _, change := range []func(*job.EffectID){
		func(e *job.EffectID) { e.Namespace = "other" },
		func(e *job.EffectID) { e.Job.Type = "email.other" },
		func(e *job.EffectID) { e.Job.Key = "other" },
		func(e *job.EffectID) { e.Name = "other" },
	} {
		other := newEffectID()
		change(&other)
		require.False(t, seen[other.DownstreamKey()])
		seen[other.DownstreamKey()] = true
	}
	require.NotContains(t, id.DownstreamKey(), "order")
}

func TestCheckKeyTTL(t *testing.T) {
	t.Parallel()
	require.NoError(t, job.CheckKeyTTL(job.DefaultPolicy()), "the defaults agree with each other")
	p := job.Policy{Deadline: 24 * time.Hour, Retention: 720 * time.Hour, KeyTTL: 768*time.Hour + 1}
	require.NoError(t, job.CheckKeyTTL(p))
	p.KeyTTL--
	err := job.CheckKeyTTL(p)
	require.ErrorIs(t, err, job.ErrInvalidPolicy)
	require.ErrorContains(t, err, "key_ttl 768h0m0s must exceed 768h0m0s = deadline 24h0m0s (retries) + retention 720h0m0s + deadline 24h0m0s (replays)")
	var refused *job.PolicyError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []string{"key_ttl", "deadline", "retention"}, refused.Fields)
}
