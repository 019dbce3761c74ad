// Package testsuite runs redrive against a real Temporal: for our integration tests, for the tests of users' handlers,
// and for "redrive dev" and the demo.
//
// A Server is a Temporal that belongs to this process. StartServer finds one in a fixed order: the address it is told to
// reuse (in a namespace of its own), the embedded server built from the nested module testsuite/devserver, or a temporal
// CLI on PATH; Server.Source says which. It reads no environment variable and hides TEMPORAL_* from what it starts, so
// that a shell that points at production cannot make a test use it.
//
// What it promises: when StartServer returns, a client's first call works and every search attribute of package job is
// registered with its type and searchable. A server that it started ends with this process, however this process ends;
// the mechanism is a pipe (see process).
package testsuite
