package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is what the tool is for: every way in which `go test` can end, in packages of a scratch module.
var module = map[string]string{
	"go.mod":     "module example.org/x\n\ngo 1.26\n",
	"none/a.go":  "package none\n",
	"exits/a.go": "package exits\n",
	"leaves/a_test.go": `package leaves
import "testing"
func TestPass(t *testing.T) {
	t.Run("A", func(t *testing.T) {})
	t.Run("B", func(t *testing.T) { t.Run("C", func(t *testing.T) {}) })
}
func TestSlash(t *testing.T) { t.Run("x/y", func(t *testing.T) {}) }
func TestPlain(t *testing.T) {}
func ExampleTestPlain() {
	println("x")
	// Output:
}
func FuzzSeeds(f *testing.F) { f.Add(1); f.Add(2); f.Fuzz(func(*testing.T, int) {}) }
`,
	"fails/a_test.go": `package fails
import "testing"
func TestChild(t *testing.T) {
	t.Log("set up by the parent")
	t.Run("Good", func(t *testing.T) {})
	t.Run("Bad", func(t *testing.T) { t.Error("got 1, want 2") })
}
func TestOwn(t *testing.T) { t.Run("Good", func(t *testing.T) {}); t.Error("the parent itself") }
`,
	"skips/a_test.go": `package skips
import "testing"
func TestSkip(t *testing.T) { t.Skip("needs x: make y") }
func TestParent(t *testing.T) { t.Run("S", func(t *testing.T) { t.Skip("sub") }); t.Run("G", func(t *testing.T) {}) }
`,
	"panics/a_test.go": `package panics
import "testing"
func TestBefore(t *testing.T) {}
func TestWaiting(t *testing.T) { t.Parallel() }
func TestPanic(t *testing.T) { panic("boom") }
`,
	"hangs/a_test.go": `package hangs
import "testing"
func TestHang(t *testing.T) { t.Run("In", func(t *testing.T) { select {} }) }
`,
	"broken/a_test.go": "package broken\nimport \"testing\"\nfunc TestX(t *testing.T) { undefined() }\n",
	"vetted/a_test.go": "package vetted\nimport (\n\"fmt\"\n\"testing\"\n)\nfunc TestX(t *testing.T) { fmt.Printf(\"%d\", \"x\") }\n",
	"exits/a_test.go": `package exits
import (
	"os"
	"testing"
)
func TestMain(m *testing.M) { println("bad set-up"); os.Exit(3) }
func TestX(t *testing.T) {}
`,
}

func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range module {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

// TestOutcomes runs the real go command on every package of the module, and wants its counts and what the reader is told.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	dir := newModule(t)
	tests := map[string]struct {
		last string
		says []string
	}{
		"none":    {"tests: 0 passed, 0 failed, 0 skipped", []string{"nothing here"}},
		"leaves":  {"tests: 7 passed, 0 failed, 0 skipped", []string{"ok  ", "example.org/x/leaves: 7 passed"}},
		"fails":   {"tests: 2 passed, 2 failed, 0 skipped", []string{"FAILED: example.org/x/fails TestChild/Bad", "set up by the parent", "got 1, want 2", "the parent itself"}},
		"skips":   {"tests: 1 passed, 0 failed, 2 skipped", []string{"skipped: example.org/x/skips TestSkip", "needs x: make y", "TestParent/S"}},
		"panics":  {"tests: 1 passed, 2 failed, 0 skipped", []string{"boom", "panics TestWaiting", "no verdict"}},
		"hangs":   {"tests: 0 passed, 1 failed, 0 skipped", []string{"hangs TestHang/In", "test timed out after 3s"}},
		"broken":  {"tests: 0 passed, 1 failed, 0 skipped", []string{"undefined: undefined"}},
		"vetted":  {"tests: 0 passed, 1 failed, 0 skipped", []string{"wrong type string"}},
		"exits":   {"tests: 0 passed, 1 failed, 0 skipped", []string{"bad set-up"}},
		"missing": {"tests: 0 passed, 1 failed, 0 skipped", []string{"directory not found"}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tally := newTally(&out)
			run(t.Context(), tally, []string{"go", "-C", dir, "test", "-json", "-count=1", "-timeout=3s", "./" + name})
			tally.report("nothing here")
			lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
			require.Equal(t, want.last, lines[len(lines)-1], out.String())
			for _, text := range want.says {
				require.Contains(t, out.String(), text)
			}
		})
	}
}

func TestCommandThatNeverTests(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"Absent":    {filepath.Join(t.TempDir(), "absent")},
		"Fails":     {"sh", "-c", "exit 1"},
		"CutShort":  {"sh", "-c", `echo '{"Action":"start","Package":"p"}'; exit 1`},
		"CutInTest": {"sh", "-c", `echo '{"Action":"run","Package":"p","Test":"TestX"}'`},
	}
	for name, command := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			tally := newTally(&out)
			run(t.Context(), tally, command)
			require.Equal(t, 1, tally.report(""), out.String())
		})
	}
}

func TestLongOutputKeepsItsEnd(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tally := newTally(&out)
	tally.explain([]outcome{{name: "x", output: []string{strings.Repeat("noise\n", 1000), "the end\n"}}})
	require.Contains(t, out.String(), "the end")
	require.Less(t, strings.Count(out.String(), "\n"), maxLines+10)
}

func TestSplit(t *testing.T) {
	t.Parallel()
	require.Empty(t, split(nil))
	require.Equal(t, [][]string{{"go", "test"}, {"go", "vet"}}, split([]string{"go", "test", "--", "go", "vet", "--"}))
}
