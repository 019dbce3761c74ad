package worker_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The README's worker is example_test.go, which the compiler checks, as a program.
func TestReadmeShowsTheExample(t *testing.T) {
	t.Parallel()
	program := strings.NewReplacer("package worker_test\n", "package main\n", "func Example() {", "func main() {").
		Replace(read(t, "example_test.go"))
	require.Equal(t, program, snippet(t, "worker/example_test.go"))
}

// Its transaction is part of an example that runs.
func TestReadmeShowsTheTransaction(t *testing.T) {
	t.Parallel()
	require.Contains(t, read(t, "../store/example_once_test.go"), snippet(t, "store/example_once_test.go"))
}

// snippet is the Go code in the README that is marked with its source.
func snippet(t *testing.T, source string) string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, "../README.md"), "<!-- "+source+" -->\n```go\n")
	require.True(t, found, "README.md has no snippet of %s", source)
	shown, _, _ := strings.Cut(rest, "```\n")
	return shown
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}
