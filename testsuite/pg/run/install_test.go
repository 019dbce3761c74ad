package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/testsuite/pg"
)

// fake is a machine without PostgreSQL whose apt-get records what it is asked, and can fail.
type fake struct {
	calls   []string
	present bool
	fails   string // the sub-command that fails
	said    bytes.Buffer
}

func (f *fake) machine(t *testing.T) machine {
	t.Helper()
	return machine{
		installed: func() error {
			if f.present {
				return nil
			}
			return pg.ErrNotInstalled
		},
		root: true, aptGet: "/usr/bin/apt-get", configDir: filepath.Join(t.TempDir(), "createcluster.d"), out: &f.said,
		run: func(_ context.Context, name string, args ...string) error {
			f.calls = append(f.calls, filepath.Base(name)+" "+args[0])
			if args[0] == f.fails {
				return errors.New("no network")
			}
			f.present = args[0] == "install"
			return nil
		},
	}
}

func TestEnsureInstalled(t *testing.T) {
	t.Parallel()

	t.Run("PresentDoesNothing", func(t *testing.T) {
		t.Parallel()
		f := &fake{present: true}
		require.NoError(t, ensureInstalled(t.Context(), f.machine(t)))
		require.Empty(t, f.calls)
		require.Empty(t, f.said.String())
	})
	t.Run("InstallsWithoutAService", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		m := f.machine(t)
		require.NoError(t, ensureInstalled(t.Context(), m))
		require.Equal(t, []string{"apt-get update", "apt-get install"}, f.calls)
		require.Contains(t, f.said.String(), "apt-get install postgresql")
		written, err := os.ReadFile(filepath.Join(m.configDir, "redrive-tests.conf"))
		require.NoError(t, err)
		require.Contains(t, string(written), "create_main_cluster = false")
	})
	t.Run("NotRootSaysWhatToType", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		m := f.machine(t)
		m.root = false
		err := ensureInstalled(t.Context(), m)
		require.ErrorIs(t, err, pg.ErrNotInstalled)
		require.Contains(t, err.Error(), "apt-get install postgresql")
		require.False(t, strings.Contains(err.Error(), "\n"), "one line")
		require.Empty(t, f.calls)
	})
	t.Run("NoAptGetSaysWhatToType", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		m := f.machine(t)
		m.aptGet = ""
		require.ErrorIs(t, ensureInstalled(t.Context(), m), pg.ErrNotInstalled)
	})
	t.Run("FailedInstallIsReported", func(t *testing.T) {
		t.Parallel()
		f := &fake{fails: "install"}
		require.ErrorContains(t, ensureInstalled(t.Context(), f.machine(t)), "no network")
	})
}

func TestRunCommand(t *testing.T) {
	t.Parallel()
	code, err := runCommand(t.Context(), []string{"sh", "-c", "exit 3"})
	require.NoError(t, err)
	require.Equal(t, 3, code)

	code, err = runCommand(t.Context(), []string{"true"})
	require.NoError(t, err)
	require.Zero(t, code)

	code, err = runCommand(t.Context(), []string{filepath.Join(t.TempDir(), "absent")})
	require.Error(t, err)
	require.Equal(t, 1, code)
}
