package redaction_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		got, err := redaction.ParsePolicy([]byte("mode: allow-list\nkeys: [customer_ref]\nallow: [$.id, session_id]\npaths: ['$..x[*].y']\n" +
			"patterns:\n- {name: member-no, match: 'M-\\d+'}\nmax_bytes: 1000\nmax_depth: 8\nmax_text_bytes: 2000\nbudget: 2s\n"))
		require.NoError(t, err)
		require.Equal(t, redaction.Policy{
			Mode: redaction.AllowList, Keys: []string{"customer_ref"}, Allow: []string{"$.id", "session_id"}, Paths: []string{"$..x[*].y"},
			Patterns: []redaction.Pattern{{Name: "member-no", Match: `M-\d+`}}, MaxBytes: 1000, MaxDepth: 8, MaxTextBytes: 2000, Budget: 2 * time.Second,
		}, got)
	})
	t.Run("Empty", func(t *testing.T) {
		t.Parallel()
		got, err := redaction.ParsePolicy([]byte("# nothing\n"))
		require.NoError(t, err)
		require.Zero(t, got)
	})
	for name, c := range map[string]struct{ in, want string }{
		"UnknownKey":       {"mode: withhold\nkeyz: [a]\n", "[2:1]"},
		"UnknownKeyInside": {"patterns:\n- name: a\n  regex: b\n", "[3:3]"},
		"RepeatedKey":      {"mode: withhold\nmode: deny-list\n", "[2:1]"},
		"WrongType":        {"max_bytes: many\n", "[1:12]"},
		"TwoDocuments":     {"mode: withhold\n---\nmode: deny-list\n", "one is allowed"},
		"NotYAML":          {"mode: [\n", "redaction policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := redaction.ParsePolicy([]byte(c.in))
			require.ErrorContainsf(t, err, c.want, "ParsePolicy(%q)", c.in)
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy redaction.Policy
		want   string
	}{
		"Mode":            {redaction.Policy{Mode: "open"}, `mode: "open"`},
		"NegativeLimit":   {redaction.Policy{MaxBytes: -1}, "max_bytes: -1"},
		"DepthTooLarge":   {redaction.Policy{MaxDepth: 5000}, "max_depth: 5000"},
		"NegativeBudget":  {redaction.Policy{Budget: -1}, "budget"},
		"NegativeText":    {redaction.Policy{MaxTextBytes: -1}, "max_text_bytes: -1"},
		"KeyGlob":         {redaction.Policy{Keys: []string{"*"}}, `keys: "*"`},
		"KeyEmpty":        {redaction.Policy{Keys: []string{"--"}}, `keys: "--"`},
		"KeyIsPath":       {redaction.Policy{Keys: []string{"$.a"}}, `keys: "$.a"`},
		"AllowGlob":       {redaction.Policy{Allow: []string{"tok?n"}}, `allow: "tok?n"`},
		"PathSyntax":      {redaction.Policy{Paths: []string{"$.a["}}, `paths: "$.a["`},
		"PathWithoutRoot": {redaction.Policy{Paths: []string{"a.b"}}, `paths: "a.b"`},
		"PathFilter":      {redaction.Policy{Paths: []string{"$.a[?@.b]"}}, "allowed are names"},
		"PathFromTheEnd":  {redaction.Policy{Paths: []string{"$.a[-1]"}}, "allowed are names"},
		"PathSliceBack":   {redaction.Policy{Paths: []string{"$.a[::-1]"}}, "allowed are names"},
		"PathTooLong":     {redaction.Policy{Paths: []string{"$" + strings.Repeat(".a", 64)}}, "64 segments"},
		"AllowPath":       {redaction.Policy{Allow: []string{"$["}}, `allow: "$["`},
		"PatternSyntax":   {redaction.Policy{Patterns: []redaction.Pattern{{Name: "a", Match: "("}}}, `patterns: "a"`},
		"PatternEmpty":    {redaction.Policy{Patterns: []redaction.Pattern{{Name: "a", Match: "x*"}}}, `patterns: "a"`},
		"PatternName":     {redaction.Policy{Patterns: []redaction.Pattern{{Name: "A b", Match: "x"}}}, `patterns: "A b"`},
		"PatternTaken":    {redaction.Policy{Patterns: []redaction.Pattern{{Name: "email", Match: "x"}}}, `patterns: "email"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := redaction.Compile(c.policy)
			require.ErrorContainsf(t, err, c.want, "Compile(%+v)", c.policy)
			require.Nil(t, r)
		})
	}
}

// TestClosedLists reads the source: a constant that its All… function forgets would be a value that nobody handles.
func TestClosedLists(t *testing.T) {
	t.Parallel()
	var reasons, modes []string
	for _, reason := range redaction.AllReasons() {
		reasons = append(reasons, string(reason))
	}
	for _, mode := range redaction.AllModes() {
		modes = append(modes, string(mode))
	}
	require.ElementsMatch(t, constants(t, "report.go", "Reason"), reasons)
	require.ElementsMatch(t, constants(t, "policy.go", "Mode"), modes)
}

func constants(t *testing.T, file, ofType string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == ofType {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			values = append(values, value)
		}
		return true
	})
	return values
}
