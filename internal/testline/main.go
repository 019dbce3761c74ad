package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	allowSkips := flag.Bool("allow-skips", os.Getenv("CI") != "true", "skipped tests do not fail the run")
	empty := flag.String("empty", "", "what to say when no test ran")
	flag.Parse()
	commands := split(flag.Args())
	if len(commands) == 0 && *empty == "" {
		fmt.Fprintln(os.Stderr, "usage: testline [-allow-skips] [-empty text] -- go test -json … [-- go test -json …]")
		os.Exit(2)
	}
	// Ctrl-C goes to the go command too, from the terminal: its tests end, and we still say how far they came.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tally := newTally(os.Stdout)
	for _, command := range commands {
		run(ctx, tally, command)
	}
	if tally.report(*empty) > 0 || (!*allowSkips && len(tally.skipped) > 0) {
		os.Exit(1)
	}
}

// split cuts arguments into commands at each "--".
func split(args []string) [][]string {
	var commands [][]string
	for len(args) > 0 {
		end := slices.Index(args, "--")
		if end < 0 {
			end = len(args)
		}
		if end > 0 {
			commands = append(commands, args[:end])
		}
		args = args[min(end+1, len(args)):]
	}
	return commands
}

func run(ctx context.Context, t *tally, command []string) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.commandFailed(command, err)
		return
	}
	failedBefore := len(t.failed)
	readErr := t.read(out)
	if readErr != nil {
		_, _ = io.Copy(io.Discard, out) // let the command end; readErr is reported
	}
	waitErr := cmd.Wait()
	switch {
	case readErr != nil:
		t.commandFailed(command, readErr)
	case waitErr != nil && len(t.failed) == failedBefore:
		t.commandFailed(command, waitErr)
	}
}

func (t *tally) commandFailed(command []string, err error) {
	t.failed = append(t.failed, outcome{name: strings.Join(command, " "), output: []string{err.Error() + "\n"}})
}
