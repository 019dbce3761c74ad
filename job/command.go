package job

import (
	"fmt"
	"strings"
)

// ReplayCommand is the shell command that asks for a replay with Temporal's own CLI. It works as pasted: the shell
// fills in the operator's user name.
func ReplayCommand(namespace string, id KeyID) string {
	scope := ""
	if namespace != "" && namespace != "default" {
		scope = " --namespace " + shellQuote(namespace)
	}
	return fmt.Sprintf(
		`temporal workflow signal%s --workflow-id %s --name %s --input '{"actor":"'"${USER:-operator}"'","reason":"handler repaired"}'`,
		scope, shellQuote(id.ReplayWorkflowID()), RequestReplay)
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
