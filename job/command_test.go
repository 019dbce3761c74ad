package job_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// paste runs command as an operator's shell does, with a temporal that shows what it was given.
func paste(t *testing.T, command string, env ...string) []string {
	t.Helper()
	bin := t.TempDir()
	fake := "#!/bin/sh\nprintf '%s\\0' \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "temporal"), []byte(fake), 0o755))
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Dir = bin
	shell.Env = append([]string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}, env...)
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, out)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestReplayCommandSurvivesTheShell(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]job.Key{
		"Plain": "order-42", "SingleQuotes": "o'brien ''", "OnlyAQuote": "'", "DoubleQuotes": `say "hi"`, "Spaces": "  a  b ",
		"Dollar": "$HOME ${USER} $(id)", "Backticks": "`id`", "Backslash": `a\nb\`, "Emoji": "party-🎉é", "History": "!! !x",
		"Operators": "a;b&c|d>e<f", "Globs": "* ~ [a-z] {a,b}", "Option": "--input", "Assignment": "A=b", "Everything": "'\"$`\\ ;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := job.KeyID{Type: "email.send", Key: key}
			require.NoError(t, id.Validate())
			args := paste(t, job.ReplayCommand("default", id), "USER=ada")
			require.Equal(t, []string{"workflow", "signal", "--workflow-id", id.ReplayWorkflowID(), "--name", "replay", "--input"}, args[:7])
			require.Len(t, args, 8)
			requireReplayBy(t, "ada", args[7])
		})
	}
}

// requireReplayBy proves that input is a request that redrive accepts.
func requireReplayBy(t *testing.T, actor, input string) {
	t.Helper()
	require.True(t, json.Valid([]byte(input)), "%s", input)
	request, err := job.ParseRequest(job.RequestReplay, []byte(input))
	require.NoError(t, err, "%s", input)
	require.Equal(t, actor, request.Actor)
	require.NotEmpty(t, request.Reason)
}

func TestReplayCommandActor(t *testing.T) {
	t.Parallel()
	id := job.KeyID{Type: "email.send", Key: "k"}
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"FromUser": {[]string{"USER=ada"}, "ada"}, "WithSpace": {[]string{"USER=ada l"}, "ada l"},
		"OperatorWithoutUser": {nil, "operator"}, "OperatorWhenEmpty": {[]string{"USER="}, "operator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := paste(t, job.ReplayCommand("", id), c.env...)
			requireReplayBy(t, c.want, args[len(args)-1])
		})
	}
}

func TestReplayCommandNamespace(t *testing.T) {
	t.Parallel()
	id := job.KeyID{Type: "email.send", Key: "k"}
	args := paste(t, job.ReplayCommand("it's $prod", id), "USER=ada")
	require.Equal(t, []string{"--namespace", "it's $prod"}, args[2:4])
	for _, usual := range []string{"", "default"} {
		require.NotContains(t, job.ReplayCommand(usual, id), "--namespace")
	}
}
