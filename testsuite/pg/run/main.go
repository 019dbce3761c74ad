// Command run gives one private PostgreSQL to a command and all its children:
//
//	go run ./testsuite/pg/run -- go test ./...
//
// The address is in REDRIVE_TEST_POSTGRES; a server named there beforehand is used instead, and none is started. The exit
// code is the command's. Where PostgreSQL is missing it is installed if that is possible without asking anybody (root, on
// a system with apt-get); otherwise one line says what to type.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/redrivehq/redrive/testsuite/pg"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: run -- command [argument…]")
		os.Exit(2)
	}
	code, err := withPostgres(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pg:", err)
	}
	os.Exit(code)
}

func withPostgres(args []string) (code int, err error) {
	// The command is in our process group and gets Ctrl-C itself; we stay to stop the server after it has ended.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if os.Getenv(pg.Variable) == "" {
		if err := ensureInstalled(ctx, thisMachine()); err != nil {
			return 1, err
		}
		cluster, err := pg.Start(ctx, pg.Options{})
		if err != nil {
			return 1, err
		}
		defer func() { err = errors.Join(err, cluster.Stop()) }()
		if err := os.Setenv(pg.Variable, cluster.DSN("")); err != nil {
			return 1, err
		}
	}
	return runCommand(ctx, args)
}

// runCommand passes SIGTERM on (Ctrl-C reaches the command from the terminal as well) and returns the command's exit code.
func runCommand(ctx context.Context, args []string) (int, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	case err != nil:
		return 1, fmt.Errorf("run %s: %w", args[0], err)
	}
	return 0, nil
}
