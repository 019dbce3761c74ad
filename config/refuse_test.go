package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/config"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, source, want string }{
		{
			"UnknownKey", "store:\n  uri: x\n",
			"redrive.yaml:2: store.uri: unknown key, allowed are url",
		},
		{
			"UnknownTopLevelKey", "log:\n  level: info\nmetrics: {}\n",
			"redrive.yaml:3: metrics: unknown key, allowed are store, vault, admin, worker, policies, log",
		},
		{
			"UnknownPolicyKey", "policies:\n  types:\n    email.send:\n      leases: 3s\n",
			"redrive.yaml:4: policies.types.email.send.leases: unknown key, allowed are lease, timeout, stall, deadline, " +
				"max_attempts, max_lease_losses, backoff, throttle, replay, retention, key_ttl, dedupe, plain_start, vault, priority, redaction",
		},
		{
			"TokenInTheFile", "admin:\n  token: hunter2\n",
			"redrive.yaml:2: admin.token: unknown key, allowed are listen, token_file, privileged_token_file, codec_origins",
		},
		{"KeyTwice", "log:\n  level: info\n  level: warn\n", "redrive.yaml:3: log.level: is given twice"},
		{
			"TimeoutBelowLease", "policies:\n  default:\n    lease: 20m\n",
			"redrive.yaml:3: policies.default.lease: timeout 10m0s is shorter than lease 20m0s",
		},
		{
			"DeadlineBelowTimeoutOfAType", "policies:\n  types:\n    email.send:\n      lease: 10s\n      deadline: 1m\n",
			"redrive.yaml:5: policies.types.email.send.deadline: deadline 1m0s is shorter than timeout 10m0s of one attempt",
		},
		{
			"TypeAgainstTheDefault", "policies:\n  default: {timeout: 2h}\n  types:\n    email.send: {deadline: 1h}\n",
			"redrive.yaml:4: policies.types.email.send.deadline: deadline 1h0m0s is shorter than timeout 2h0m0s",
		},
		{
			"KeyTTLWithinTheHorizon", "policies:\n  default:\n    lease: 10s\n    key_ttl: 24h\n",
			"redrive.yaml:4: policies.default.key_ttl: key_ttl 24h0m0s must exceed 2208h0m0s = deadline 24h0m0s (retries) + " +
				"retention 2160h0m0s + deadline 24h0m0s (replays)",
		},
		{
			"RetentionOfATypeBeyondKeyTTL", "policies:\n  types:\n    email.send:\n      retention: 2352h\n",
			"redrive.yaml:4: policies.types.email.send.retention: key_ttl 2400h0m0s must exceed 2400h0m0s = ",
		},
		{
			"Dedupe", "policies:\n  default:\n    dedupe: hunter2\n",
			"redrive.yaml:3: policies.default.dedupe: dedupe is not a known way, allowed are temporal and store",
		},
		{
			"BackoffNested", "policies:\n  default:\n    backoff:\n      base: 1h\n",
			"redrive.yaml:4: policies.default.backoff.base: backoff base 1h0m0s and cap 5m0s",
		},
		{
			"Redaction", "policies:\n  default:\n    redaction:\n      mode: maybe\n",
			`redrive.yaml:4: policies.default.redaction.mode: "maybe": allowed are`,
		},
		{
			"RedactionBool", "policies:\n  default:\n    redaction:\n      private_ips: maybe\n",
			"redrive.yaml:4: policies.default.redaction.private_ips: is not true or false",
		},
		{
			"RedactionRule", "policies:\n  default:\n    redaction:\n      paths:\n      - $.a\n      - $.b[\n",
			`redrive.yaml:6: policies.default.redaction.paths[1]: "$.b[": `,
		},
		{
			"RedactionOperator", "policies:\n  default:\n    redaction:\n      operators:\n        cvv: partial\n",
			`redrive.yaml:5: policies.default.redaction.operators.cvv: "cvv": "partial" keeps a trace`,
		},
		{
			"TypeName", "policies:\n  types:\n    Email: {lease: 10s}\n",
			"redrive.yaml:3: policies.types.Email: invalid job identity: the type has 'E' at byte 0",
		},
		{
			"ExplicitZero", "policies:\n  default:\n    max_attempts: 0\n",
			"redrive.yaml:3: policies.default.max_attempts: is 0; leave it out for the default",
		},
		{
			"DurationWithoutUnit", "policies:\n  default:\n    lease: 30\n",
			"redrive.yaml:3: policies.default.lease: is not a duration such as 30s, 15m or 720h",
		},
		{"NotANumber", "worker:\n  max_concurrent: many\n", "redrive.yaml:2: worker.max_concurrent: is not a whole number"},
		{"NotAMapping", "worker: 3\n", "redrive.yaml:1: worker: must be a mapping of names to settings"},
		{"NotAMappingAtAll", "- 3\n", "redrive.yaml:1: must be a mapping of names to settings"},
		{"NotAList", "policies: {default: {redaction: {keys: a}}}\n", "redrive.yaml:1: policies.default.redaction.keys: must be a list"},
		{"NotAScalar", "log:\n  level: [info]\n", "redrive.yaml:2: log.level: must be a single value"},
		{"NumberForText", "worker:\n  handler_version: 1.10\n", "redrive.yaml:2: worker.handler_version: is not text; put it in quotes"},
		{"TwoDocuments", "log: {}\n---\nlog: {}\n", "redrive.yaml: more than one YAML document"},
		{
			"OpenListener", "admin:\n  listen: :8080\n",
			"redrive.yaml:2: admin.listen: is reachable from other machines and needs a token",
		},
		{
			"NoOrigin", "admin:\n  codec_origins:\n    - https://ui.example\n    - https://ui.example/\n",
			"redrive.yaml:4: admin.codec_origins[1]: is not where a page comes from",
		},
		{"NoPort", "admin:\n  listen: localhost\n", "redrive.yaml:2: admin.listen: is not host:port"},
		{"UnknownStore", "store:\n  url: mysql://u:hunter2@db/x\n", "redrive.yaml:2: store.url: is not a known kind of store; allowed are sqlite:"},
		{"StoreWithoutPath", "store:\n  url: 'sqlite:'\n", "redrive.yaml:2: store.url: names no file; "},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Parse("redrive.yaml", []byte(c.source), nil)
			require.Error(t, err)
			require.ErrorContains(t, err, c.want)
			require.ErrorIs(t, err, config.ErrInvalid)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestAllComplaintsAtOnce(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("redrive.yaml", []byte("log: {level: loud}\nworker: {max_concurrent: -1}\n"), nil)
	require.ErrorContains(t, err, "redrive.yaml:1: log.level")
	require.ErrorContains(t, err, "redrive.yaml:2: worker.max_concurrent: is -1, allowed are 1 to 10000")
}

// TestNoSecretInErrors plants a password wherever a text may stand, in files that are wrong in every way.
func TestNoSecretInErrors(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-canary"
	for _, source := range []string{
		"store: {url: 'postgres://u:%ZZ" + secret + "@db/x'}",
		"store: {url: 'postgres://u:a/" + secret + "@db:x/y'}",
		"store: {url: 'u:" + secret + "@db/x'}",
		"store: {url: [" + secret + "]}",
		"store: {url: {" + secret + "}}",
		"store: {url: \"" + secret,
		"store:\n  url: '" + secret + "\n",
		"store: {url: " + secret,
		"store:\n  url: " + secret + "\n   x: y\n",
		"store:\n\turl: " + secret,
		"store: !!int " + secret,
		"store: &" + secret + "\n  url: @" + secret,
		"worker: {drain: " + secret + "}",
		"worker: {max_concurrent: " + secret + "}",
		"worker: " + secret,
		secret,
		"log: {level: " + secret + ", format: " + secret + "}",
		"admin: {listen: " + secret + "}",
		"admin: {listen: '" + secret + ":" + secret + "'}",
		"admin: {listen: '" + secret + ":80'}",
		"store: *" + secret,
	} {
		_, err := config.Parse("redrive.yaml", []byte(source), nil)
		require.Error(t, err, source)
		require.NotContains(t, err.Error(), secret, source)
		_, err = config.Parse("", nil, environment(map[string]string{
			"REDRIVE_STORE": "postgres://u:%ZZ" + secret + "@db/x", "REDRIVE_WORKER_DRAIN": secret,
		}))
		require.Error(t, err)
		require.NotContains(t, err.Error(), secret)
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.8.8": true, "::1": true, "localhost": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "example.com": false,
	} {
		require.Equal(t, want, config.Loopback(host), host)
	}
}
