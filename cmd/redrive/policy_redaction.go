package main

import (
	"fmt"
	"io"
	"os"

	"github.com/redrivehq/redrive/redaction"
)

// checkedRedaction is what `redrive policy check --redaction` says of a good file.
type checkedRedaction struct {
	File   string `json:"file"`
	Policy string `json:"policy_sha256"`
}

// checkRedaction compiles a redaction policy that stands in a file of its own; a complaint names the line and the rule.
func (e *environment) checkRedaction(file string) error {
	keys, err := e.redactionKeys()
	if err != nil {
		return err
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	redactor, err := redaction.CompileYAML(source, keys...)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	result := checkedRedaction{File: file, Policy: redactor.PolicySHA256()}
	return e.print(result, func(w io.Writer) {
		fmt.Fprintf(w, "%s is fine: policy %s\n", printable(file), result.Policy)
	})
}
