package job

import (
	"fmt"
	"strings"
)

// ReplayCommand is the shell command that asks for a replay with Temporal's own CLI. It works as pasted: the shell
// fills in the operator's user name.
func ReplayCommand(namespace string, id KeyID) string {
	return requestCommand(namespace, id, RequestReplay, `"reason":"handler repaired"`)
}

// ReconcileCommand is the like for settling an effect. It is no JSON until somebody has filled in whether the effect
// happened: a command that frees an effect when it is only pasted would apply it twice.
func ReconcileCommand(namespace string, id KeyID, effect string) string {
	return requestCommand(namespace, id, RequestReconcile, `"reason":"how this is known","effect":"`+effect+`","happened":TRUE_OR_FALSE`)
}

func requestCommand(namespace string, id KeyID, kind RequestKind, fields string) string {
	scope := ""
	if namespace != "" && namespace != "default" {
		scope = " --namespace " + shellQuote(namespace)
	}
	return fmt.Sprintf(`temporal workflow signal%s --workflow-id %s --name %s --input '{"actor":"'"${USER:-operator}"'",%s}'`,
		scope, shellQuote(id.ReplayWorkflowID()), kind, fields)
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
