package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The three tests below look at the real tree; the checkers themselves are tested in archtest_test.go.

func TestImports(t *testing.T) {
	t.Parallel()
	require.Empty(t, strings.Join(checkImports(newTree(t)), "\n"))
}

func TestSources(t *testing.T) {
	t.Parallel()
	breaches, err := checkSources(newTree(t))
	require.NoError(t, err)
	require.Empty(t, strings.Join(breaches, "\n"))
}

func TestNoPathOfThisMachine(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	names, err := trackedFiles(root)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	breaches, err := checkMachine(root, names, needles(root, os.Getenv("HOME")))
	require.NoError(t, err)
	require.Empty(t, strings.Join(breaches, "\n"))
}

func newTree(t *testing.T) []pkg {
	t.Helper()
	packages, err := load("../..")
	require.NoError(t, err)
	require.NotEmpty(t, packages)
	return packages
}
