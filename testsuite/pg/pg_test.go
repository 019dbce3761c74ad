package pg_test

import (
	"bufio"
	"context"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/testsuite/pg"
	"github.com/redrivehq/redrive/testsuite/services"
)

// holder makes the test binary play the process that starts a cluster and is killed (TestDiesWithItsParent).
const holder = "REDRIVE_TEST_PG_HOLDER"

func TestMain(m *testing.M) {
	if os.Getenv(holder) != "" {
		hold()
	}
	os.Exit(m.Run())
}

// hold starts a cluster in the directory it is told, prints its DSN and waits to be killed.
func hold() {
	c, err := pg.Start(context.Background(), pg.Options{Dir: os.Getenv(holder)})
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(c.DSN("") + "\n")
	select {}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := pg.StartForTest(t)

	t.Run("AnswersOnLoopback", func(t *testing.T) {
		require.Equal(t, "1", query(t, c.DSN(""), "SELECT 1::text"))
		host, err := url.Parse(c.DSN(""))
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1", host.Hostname())
	})
	t.Run("MaxConnections", func(t *testing.T) {
		require.Equal(t, "300", query(t, c.DSN(""), "SHOW max_connections"))
	})
	t.Run("DatabasesAreApart", func(t *testing.T) {
		first, err := c.CreateDatabase(t.Context())
		require.NoError(t, err)
		second, err := c.CreateDatabase(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, first, second)
		run(t, first, "CREATE TABLE x (n int)")
		require.Equal(t, "true", query(t, second, "SELECT (to_regclass('x') IS NULL)::text"))
	})
	t.Run("PauseAndResumeKeepPortAndData", func(t *testing.T) {
		dsn, err := c.CreateDatabase(t.Context())
		require.NoError(t, err)
		run(t, dsn, "CREATE TABLE x (n int)")
		run(t, dsn, "INSERT INTO x VALUES (7)")
		open, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)

		require.NoError(t, c.Pause(t.Context()))
		require.NoError(t, c.Pause(t.Context()), "pausing twice")
		require.Error(t, open.Ping(t.Context()), "an open connection breaks")
		_, err = pgx.Connect(t.Context(), dsn)
		require.Error(t, err, "a new connection is refused")

		require.NoError(t, c.Resume(t.Context()))
		require.NoError(t, c.Resume(t.Context()), "resuming twice")
		require.Equal(t, "7", query(t, dsn, "SELECT n::text FROM x"))
	})
	t.Run("StopIsFinal", func(t *testing.T) {
		require.NoError(t, c.Stop())
		require.NoError(t, c.Stop(), "stopping twice")
		require.Error(t, c.Resume(t.Context()))
		_, err := pgx.Connect(t.Context(), c.DSN(""))
		require.Error(t, err)
	})
}

func TestStopRemovesTheData(t *testing.T) {
	t.Parallel()
	services.Needed(t, "PostgreSQL")
	parent := reachableDir(t)
	c, err := pg.Start(t.Context(), pg.Options{Dir: parent})
	require.NoError(t, err)
	require.NotEmpty(t, entries(t, parent))
	require.NoError(t, c.Stop())
	require.Empty(t, entries(t, parent))
}

func TestForTest(t *testing.T) {
	t.Parallel()
	dsn := pg.ForTest(t)
	require.Equal(t, "0", query(t, dsn, "SELECT count(*)::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"))
	require.NotEqual(t, dsn, pg.ForTest(t))
}

// TestDiesWithItsParent kills the process that holds a cluster, and wants neither a server nor a file left.
func TestDiesWithItsParent(t *testing.T) {
	t.Parallel()
	services.Needed(t, "PostgreSQL")
	parent := reachableDir(t)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), holder+"="+parent)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	dsn, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	dsn = strings.TrimSpace(dsn)
	require.Equal(t, "1", query(t, dsn, "SELECT 1::text"))

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	address, err := url.Parse(dsn)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 20*time.Second, 20*time.Millisecond, "the server outlived its parent")
	require.Eventually(t, func() bool { return len(entries(t, parent)) == 0 }, 20*time.Second, 20*time.Millisecond,
		"the data outlived the parent")
}

// reachableDir is a temporary directory that the server's account may enter and clean, which t.TempDir is not for root.
func reachableDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "redrive-pg-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777|fs.ModeSticky))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	return found
}

func query(t *testing.T, dsn, statement string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	var value string
	require.NoError(t, conn.QueryRow(t.Context(), statement).Scan(&value))
	return value
}

func run(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), statement)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}
