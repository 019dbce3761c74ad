package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

// redactFlags are what `redrive redact` was asked for.
type redactFlags struct {
	policy  string
	presets []string
	jobType string
	taint   string
	text    bool
	report  bool
}

func newRedact(env *environment) *cobra.Command {
	var flags redactFlags
	cmd := &cobra.Command{
		Use: "redact", Short: "Redact a payload or a text, to try a policy", Args: takes(),
		Long: `Redact what stands on standard input, as a dead letter would be, and write it to standard output.

The input is one JSON document, or with --text an error message, a stack or a log. The rules are the default ones, those
of a policy file, of presets, or of a job type in redrive.yaml. What cannot be redacted safely is withheld: then a marker
with the reason stands in its place, and the exit code is 3. The report holds counts only.`,
		Example: `  redrive redact < payload.json
  redrive redact --policy p.yaml --report < payload.json
  redrive redact --preset secrets,pci --text --taint-from payload.json < stack.txt
  redrive redact --type email.send < payload.json`,
		RunE: func(*cobra.Command, []string) error {
			redactor, err := env.redactor(flags)
			if err != nil {
				return err
			}
			return env.redact(redactor, flags)
		},
	}
	cmd.Flags().StringVar(&flags.policy, "policy", "", "a `file` with a redaction policy")
	cmd.Flags().StringSliceVar(&flags.presets, "preset", nil, "only these `presets`: "+presetNames())
	cmd.Flags().StringVar(&flags.jobType, "type", "", "the policy of this job `type` in redrive.yaml")
	cmd.Flags().BoolVar(&flags.text, "text", false, "the input is a text, not JSON")
	cmd.Flags().StringVar(&flags.taint, "taint-from", "", "with --text: also remove what the rules remove from this payload `file`")
	cmd.Flags().BoolVar(&flags.report, "report", false, "write the report to standard error, as JSON")
	return cmd
}

func presetNames() string {
	var names []string
	for _, preset := range redaction.AllPresets() {
		names = append(names, string(preset))
	}
	return strings.Join(names, ", ")
}

// redactor compiles the rules that the flags name. Rules that do not compile are wrong usage: nothing was read.
func (e *environment) redactor(flags redactFlags) (*redaction.Redactor, error) {
	if flags.taint != "" && !flags.text {
		return nil, usagef("--taint-from is for texts, give --text with it")
	}
	if (flags.policy != "" && flags.jobType != "") || (len(flags.presets) > 0 && flags.policy+flags.jobType != "") {
		return nil, usagef("--policy, --preset and --type exclude each other")
	}
	keys, err := e.redactionKeys()
	if err != nil {
		return nil, err
	}
	policy := redaction.Policy{HMACKeys: keys}
	switch {
	case flags.policy != "":
		source, err := os.ReadFile(flags.policy)
		if err != nil {
			return nil, usagef("read the policy: %w", err)
		}
		redactor, err := redaction.CompileYAML(source, keys...)
		if err != nil {
			return nil, usagef("%s: %w", flags.policy, err)
		}
		return redactor, nil
	case flags.jobType != "":
		settings, err := e.settings()
		if err != nil {
			return nil, err
		}
		policy = settings.Policies.Default.Redaction
		if own, found := settings.Policies.Types[job.Type(flags.jobType)]; found {
			policy = own.Redaction
		}
	case len(flags.presets) > 0:
		policy.ReplaceDefaults = true
		for _, name := range flags.presets {
			policy.Presets = append(policy.Presets, redaction.Preset(name))
		}
	}
	redactor, err := redaction.Compile(policy)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return redactor, nil
}

func (e *environment) redactionKeys() ([]redaction.HMACKey, error) {
	text := e.getenv("REDRIVE_REDACTION_KEYS")
	if text == "" {
		return nil, nil
	}
	keys, err := redaction.ParseHMACKeys(text)
	if err != nil {
		return nil, usagef("REDRIVE_REDACTION_KEYS: %w", err)
	}
	return keys, nil
}

// redact reads the input whole: what is cut off cannot be redacted.
func (e *environment) redact(redactor *redaction.Redactor, flags redactFlags) error {
	in, err := io.ReadAll(e.stdin)
	if err != nil {
		return fmt.Errorf("read the input: %w", err)
	}
	out, report, err := redacted(redactor, flags, in)
	if err != nil {
		return err
	}
	if _, err := e.stdout.Write(out); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	if flags.report {
		if err := e.writeReport(report); err != nil {
			return err
		}
	}
	if report.Withheld {
		return refusedf("withheld: %s", report.Reason)
	}
	return nil
}

func redacted(redactor *redaction.Redactor, flags redactFlags, in []byte) ([]byte, redaction.Report, error) {
	if !flags.text {
		result := redactor.Payload(in)
		return append(result.JSON, '\n'), result.Report, nil
	}
	var taint redaction.Taint
	if flags.taint != "" {
		payload, err := os.ReadFile(flags.taint)
		if err != nil {
			return nil, redaction.Report{}, usagef("read the payload: %w", err)
		}
		taint = redactor.Taint(payload)
	}
	text, report := redactor.Scrub(string(in), taint)
	return []byte(text), report, nil
}

// shownReport is the report in the words of records.
type shownReport struct {
	Fields   int               `json:"fields"`
	Values   int               `json:"values"`
	Counts   []redaction.Count `json:"counts"`
	Bytes    int               `json:"bytes"`
	Layers   int               `json:"layers"`
	Withheld bool              `json:"withheld"`
	Reason   redaction.Reason  `json:"reason,omitempty"`
	Policy   string            `json:"policy_sha256"`
	Engine   string            `json:"engine_version"`
}

func (e *environment) writeReport(r redaction.Report) error {
	encoder := json.NewEncoder(e.stderr)
	encoder.SetIndent("", "  ")
	counts := r.Counts
	if counts == nil {
		counts = []redaction.Count{}
	}
	return encoder.Encode(shownReport{
		Fields: r.Fields, Values: r.Values, Counts: counts, Bytes: r.Bytes, Layers: r.Layers, Withheld: r.Withheld, Reason: r.Reason,
		Policy: r.Policy, Engine: r.Engine,
	})
}
