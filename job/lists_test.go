package job_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// The source is what is compared with: a constant that nobody added to its list fails here, not in production.
func TestClosedListsHoldEveryConstant(t *testing.T) {
	t.Parallel()
	declared := declaredConstants(t)
	lists := map[string][]string{
		"Class":       text(job.AllClasses()),
		"Cause":       text(job.AllCauses()),
		"State":       text(job.AllStates()),
		"Outcome":     text(job.AllOutcomes()),
		"RefusalCode": text(job.AllRefusalCodes()),
		"RequestKind": text(job.AllRequestKinds()),
		"Effects":     text(job.AllEffects()),
		"Dedupe":      text(job.AllDedupes()),
		"EffectState": text(job.AllEffectStates()),
		"EffectEvent": text(job.AllEffectEvents()),
		"LeaseEvent":  text(job.AllLeaseEvents()),
		"AuditAction": text(job.AllAuditActions()),

		"PlainStart":   text(job.AllPlainStarts()),
		"VaultUse":     text(job.AllVaultUses()),
		"PrivacyEvent": text(job.AllPrivacyEvents()),
	}
	// What a class has, not what is chosen from: nobody needs these lists.
	for _, name := range []string{"Disposition", "Need", "AttemptEnd"} {
		delete(declared, name)
	}
	for name := range declared {
		require.Contains(t, lists, name, "a closed list needs an All function, and this test its name")
	}
	for name, listed := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, declared[name], "the source declares constants of type %s", name)
			require.ElementsMatch(t, declared[name], listed)
		})
	}
}

func text[S ~string](list []S) []string {
	plain := make([]string, 0, len(list))
	for _, s := range list {
		plain = append(plain, string(s))
	}
	return plain
}

// declaredConstants returns the values of the package's typed string constants, by the name of their type.
func declaredConstants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	require.NoError(t, err)
	found := map[string][]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.CONST {
				collectConstants(t, decl, found)
			}
			return true
		})
	}
	return found
}

func collectConstants(t *testing.T, decl *ast.GenDecl, found map[string][]string) {
	t.Helper()
	for _, spec := range decl.Specs {
		value := spec.(*ast.ValueSpec)
		typ, ok := value.Type.(*ast.Ident)
		if !ok {
			continue
		}
		for _, expr := range value.Values {
			literal, ok := expr.(*ast.BasicLit)
			require.True(t, ok, "%s is not a literal, this test cannot read it", value.Names[0].Name)
			plain, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			found[typ.Name] = append(found[typ.Name], plain)
		}
	}
}

func TestClassRules(t *testing.T) {
	t.Parallel()
	for _, c := range job.AllClasses() {
		require.True(t, c.Known(), "%s", c)
		require.Equal(t, c.Final(), c.Disposition() == job.Poison || c.Disposition() == job.Park, "%s", c)
		if c.Final() {
			require.Contains(t, job.FinalClasses(), c)
			require.Contains(t, job.AllCauses(), c.FinalCause())
		} else {
			require.NotContains(t, job.FinalClasses(), c)
		}
	}
	t.Run("UnknownIsTransient", func(t *testing.T) {
		t.Parallel()
		stranger := job.Class("no_such_class")
		require.False(t, stranger.Known())
		require.Equal(t, job.Retry, stranger.Disposition())
		require.False(t, stranger.Final())
	})
	t.Run("OnlyVerdictsOfHandlersCount", func(t *testing.T) {
		t.Parallel()
		for _, c := range []job.Class{job.ClassLeaseLost, job.ClassThrottled, job.ClassUnknownJobType, job.ClassPayloadUnavailable} {
			require.False(t, c.Counted(), "%s", c)
		}
	})
}
