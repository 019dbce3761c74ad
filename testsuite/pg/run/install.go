package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/redrivehq/redrive/testsuite/pg"
)

// command is what a person would type.
const command = "apt-get install postgresql"

// noMainCluster keeps Debian's packaging from making a cluster and starting a service: the tests want the programs only.
const noMainCluster = "# Written by redrive's `make test`, which needs PostgreSQL's programs and no cluster of the system's.\ncreate_main_cluster = false\n"

// machine is what ensureInstalled needs to know and may do; the tests replace it.
type machine struct {
	installed func() error
	root      bool
	aptGet    string // path, empty where there is none
	configDir string // of postgresql-common
	run       func(ctx context.Context, name string, args ...string) error
	out       io.Writer
}

func thisMachine() machine {
	aptGet, _ := exec.LookPath("apt-get") // not found: empty
	return machine{
		installed: pg.Installed, root: os.Geteuid() == 0, aptGet: aptGet,
		configDir: "/etc/postgresql-common/createcluster.d", run: runVisibly, out: os.Stderr,
	}
}

func ensureInstalled(ctx context.Context, m machine) error {
	err := m.installed()
	if err == nil {
		return nil
	}
	if !m.root || m.aptGet == "" {
		return err
	}
	fmt.Fprintln(m.out, "pg: the tests need PostgreSQL's server programs, which are not here: apt-get update, "+command)
	if err := m.forbidMainCluster(); err != nil {
		return err
	}
	if err := m.run(ctx, m.aptGet, "update", "-qq"); err != nil {
		return fmt.Errorf("install postgresql: %w", err)
	}
	if err := m.run(ctx, m.aptGet, "install", "-y", "-qq", "--no-install-recommends", "postgresql"); err != nil {
		return fmt.Errorf("install postgresql: %w", err)
	}
	return m.installed()
}

func (m machine) forbidMainCluster() error {
	if err := os.MkdirAll(m.configDir, 0o755); err != nil {
		return fmt.Errorf("install postgresql: %w", err)
	}
	if err := os.WriteFile(filepath.Join(m.configDir, "redrive-tests.conf"), []byte(noMainCluster), 0o644); err != nil {
		return fmt.Errorf("install postgresql: %w", err)
	}
	return nil
}

// runVisibly shows the program's output on standard error: standard output belongs to the command we were given.
func runVisibly(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
