package integration_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redrivehq/redrive/testsuite"
)

// What this test process shares, set before any test runs and not changed afterwards.
var (
	shared     *testsuite.Server
	programDir string // where the program under test is built
)

func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		if err := workerProcess(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if testing.Short() {
		os.Exit(m.Run())
	}
	os.Exit(runWithServer(m))
}

func runWithServer(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := testsuite.StartServer(ctx, testsuite.ServerOptions{
		Reuse: os.Getenv("REDRIVE_TEST_TEMPORAL"), NoUI: true,
		DynamicConfig: map[string]string{
			"history.workflowIdReuseMinimalInterval":     "0s",
			"history.transferProcessorUpdateAckInterval": "2s", // a deletion waits for it; the default is 30s
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer server.Close() //nolint:errcheck // the process ends, and the server with it
	if server.HTTPAddress == "" {
		server.HTTPAddress = os.Getenv("REDRIVE_TEST_TEMPORAL_HTTP") // of the server that is reused
	}
	shared = server
	if programDir, err = os.MkdirTemp("", "redrive-program-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programDir) //nolint:errcheck // a temporary directory
	return m.Run()
}
