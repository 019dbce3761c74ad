// Package services is the one rule for tests that need a running service: they are skipped under -short, and never
// where CI=true, since a skipped test proves nothing there.
package services

import (
	"os"
	"testing"
)

// Needed skips t under -short and names the command that runs it; under CI=true it fails t instead.
func Needed(t testing.TB, what string) {
	t.Helper()
	switch {
	case !testing.Short():
	case os.Getenv("CI") == "true":
		t.Fatalf("needs %s, and CI=true allows no skip: run `make test`", what)
	default:
		t.Skipf("needs %s: run without -short, or `make test`", what)
	}
}
