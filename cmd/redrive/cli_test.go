package main

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestScripts runs what needs no services. In a script, `redrive CODE [<FILE] ARGS…` runs the program in this process and
// wants the exit code; its environment is the script's, its input the file.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/scripts",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"redrive": scriptRedrive},
	})
}

func scriptRedrive(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: redrive CODE [<FILE] ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args, input := args[1:], ""
	if len(args) > 0 && strings.HasPrefix(args[0], "<") {
		input, args = ts.ReadFile(args[0][1:]), args[1:]
	}
	got := run(context.Background(), args, strings.NewReader(input), ts.Stdout(), ts.Stderr(), ts.Getenv)
	if got != want {
		ts.Fatalf("redrive %s: exit code %d, want %d", strings.Join(args, " "), got, want)
	}
}

// try runs the program without an environment.
func try(t *testing.T, input string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(input), &out, &complaints, func(string) string { return "" })
	return code, out.String(), complaints.String()
}

// TestNoPayloadInErrors plants a value where a payload is expected and looks for it in what the program says.
func TestNoPayloadInErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input string
		args  []string
	}{
		"NotJSON":       {"", []string{"enqueue", "email.send", "k", "--payload", `{"to": canary}`}},
		"TooMany":       {"", []string{"enqueue", "--envelope", `{"type":"a","key":"k","payload":"canary"}`, "--payload", `"canary"`}},
		"EnvelopeStdin": {`{"type":"a","key":"k","payload":"canary"`, []string{"enqueue", "--envelope", "-"}},
		"Unknown":       {`{"type":1,"key":"canary"}`, []string{"enqueue", "--envelope", "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := try(t, c.input, c.args...)
			require.Equal(t, exitUsage, code, stderr)
			require.NotContains(t, stdout+stderr, "canary")
		})
	}
}

// TestEveryCommandHasHelp walks the tree.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	root := newRoot(&environment{getenv: func(string) string { return "" }})
	queue := root.Commands()
	require.NotEmpty(t, queue)
	for len(queue) > 0 {
		cmd := queue[0]
		queue = append(queue[1:], cmd.Commands()...)
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		if cmd.Runnable() && !cmd.HasSubCommands() && cmd.Name() != "version" {
			require.NotEmpty(t, cmd.Example, cmd.CommandPath())
		}
		code, stdout, stderr := try(t, "", append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		require.Equal(t, exitDone, code, cmd.CommandPath())
		require.Contains(t, stdout, "Usage:\n  "+cmd.CommandPath())
		require.Empty(t, stderr)
	}
}
