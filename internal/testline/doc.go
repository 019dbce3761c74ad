// Command testline runs `go test -json` commands and says what came out, in a form that people and scripts can rely on:
//
//	testline [-allow-skips] [-empty text] -- go test -json ./... -- go -C nested test -json ./...
//
// One line per package as it finishes; then every skipped test with its reason, and every failed one with its output; and
// last, always, `tests: N passed, N failed, N skipped`. The exit status is 1 when anything failed, and, with CI=true and
// without -allow-skips, when anything was skipped.
//
// Leaf tests are counted, once each; a test with sub-tests counts itself only for a failure or a skip that no sub-test
// accounts for. Whatever ends a package without a verdict on a test counts as a failure: a build error, a panic, a timeout,
// an exit, a `go` command that never got as far as running tests.
package main
