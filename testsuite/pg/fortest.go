package pg

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redrivehq/redrive/testsuite/services"
)

// Variable names the environment variable with the address of a server for tests: a URL of a user that may create databases.
const Variable = "REDRIVE_TEST_POSTGRES"

// shared is the process's own cluster, started by the first test that needs it and ended by its watchdog when the process
// ends: testing has no hook for "after all packages' tests", and TestMain belongs to the package under test.
var shared = sync.OnceValues(func() (*Cluster, error) { return Start(context.Background(), Options{}) })

// ForTest returns the DSN of an empty database that is dropped when the test ends. It lives on the server that
// REDRIVE_TEST_POSTGRES names, otherwise on a cluster private to this test process.
//
// The test is skipped under -short, and where PostgreSQL is not installed unless CI=true, which makes that a failure.
func ForTest(t testing.TB) string {
	t.Helper()
	services.Needed(t, "PostgreSQL")
	admin := os.Getenv(Variable)
	if admin == "" {
		admin = sharedAdmin(t)
	}
	dsn, err := createDatabase(t.Context(), admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := dropDatabase(ctx, admin, dsn); err != nil {
			t.Error(err)
		}
	})
	return dsn
}

// StartForTest returns a cluster that is the test's alone, to pause and resume; it ends with the test.
// It skips and fails like ForTest.
func StartForTest(t testing.TB) *Cluster {
	t.Helper()
	services.Needed(t, "PostgreSQL")
	c, err := Start(t.Context(), Options{})
	check(t, err)
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func sharedAdmin(t testing.TB) string {
	t.Helper()
	c, err := shared()
	check(t, err)
	return c.DSN("")
}

func check(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrNotInstalled) && os.Getenv("CI") != "true" {
		t.Skipf("%v; `make test` does it", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
