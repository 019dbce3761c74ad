package redaction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

func TestPresets(t *testing.T) {
	t.Parallel()
	in := `{"password":"q7Zk","card":"` + fakeCard + `","email":"a@b.example","admission_date":"2026-01-02","at":"2026-01-02","mrn":"MR-77001","n":7}`
	only := func(presets ...redaction.Preset) redaction.Policy {
		return redaction.Policy{Presets: presets, ReplaceDefaults: true}
	}
	for name, c := range map[string]struct {
		policy redaction.Policy
		gone   []string
		kept   []string
	}{
		"Default":          {redaction.Policy{}, []string{"q7Zk", fakeCard, "a@b.example"}, []string{"2026-01-02", "MR-77001"}},
		"Secrets":          {only(redaction.PresetSecrets), []string{"q7Zk"}, []string{fakeCard, "a@b.example"}},
		"PCI":              {only(redaction.PresetPCI), []string{fakeCard}, []string{"q7Zk", "a@b.example"}},
		"GDPR":             {only(redaction.PresetGDPR), []string{fakeCard, "a@b.example"}, []string{"q7Zk"}},
		"HIPAA":            {only(redaction.PresetHIPAA), []string{"a@b.example", "2026-01-02", "MR-77001"}, []string{"q7Zk"}},
		"HIPAAWithDefault": {redaction.Policy{Presets: []redaction.Preset{redaction.PresetHIPAA}}, []string{"a@b.example", "2026-01-02", "MR-77001", "q7Zk"}, []string{`"n":7`}},
		"Strict":           {redaction.Policy{Presets: []redaction.Preset{redaction.PresetStrict}}, []string{"q7Zk", fakeCard, "2026", "MR-77001", "7"}, nil},
		"StrictAllowed":    {redaction.Policy{Presets: []redaction.Preset{redaction.PresetStrict}, Allow: []string{"$.n"}}, []string{"q7Zk", fakeCard, "2026"}, []string{`"n":7`}},
		"None":             {redaction.Policy{ReplaceDefaults: true}, nil, []string{"q7Zk", fakeCard, "a@b.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := string(payload(t, newRedactor(t, c.policy), in).JSON)
			for _, value := range c.gone {
				require.NotContains(t, out, value)
			}
			for _, value := range c.kept {
				require.Contains(t, out, value)
			}
		})
	}
	_, err := redaction.Compile(redaction.Policy{Presets: []redaction.Preset{"everything"}})
	require.ErrorContains(t, err, `presets: "everything", allowed are`)
}

// TestCompileYAML names line and rule.
func TestCompileYAML(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"Path":     {"mode: deny-list\npaths:\n- $.a\n- $.b[\n", `line 4: paths: "$.b["`},
		"Pattern":  {"patterns:\n- name: a\n  match: x\n- name: b\n  match: '('\n", `line 4: patterns: "b"`},
		"Operator": {"operators:\n  email: drop\n  cvv: partial\n", `line 3: operators: "cvv"`},
		"Mode":     {"keys: [a]\nmode: open\n", `line 2: mode: "open"`},
		"Limit":    {"max_depth: 5000\n", "line 1: max_depth: 5000, allowed"},
		"Preset":   {"presets:\n- secrets\n- nosuch\n", `line 3: presets: "nosuch"`},
		"URLPath":  {"url_paths: ['/a']\n", `line 1: url_paths: "/a"`},
		"Literal":  {"literals:\n- fine here\n- ab\n", "line 3: literals: entry 2"},
		"Allow":    {"allow:\n- 'a*'\n", `line 2: allow: "a*"`},
		"Twice":    {"duplicate_keys: maybe\n", `line 1: duplicate_keys: "maybe"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := redaction.CompileYAML([]byte(c.in))
			require.ErrorContains(t, err, c.want)
			var bad *redaction.RuleError
			require.ErrorAs(t, err, &bad)
		})
	}
	r, err := redaction.CompileYAML([]byte("keys: [ref]\nmax_bytes: 100\n"))
	require.NoError(t, err)
	same, err := redaction.CompileYAML([]byte("max_bytes: 100 # a comment\nkeys: [ref]\n"))
	require.NoError(t, err)
	require.Equal(t, r.PolicySHA256(), same.PolicySHA256(), "the same rules")
	require.NotEqual(t, r.PolicySHA256(), newRedactor(t, redaction.Policy{}).PolicySHA256())
}
