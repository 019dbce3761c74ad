package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

func newShow(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one dead letter: why, its attempts, payload, replays and requests", Args: takes("ID"),
		Example: `  redrive dead-letters show dl_ab2cd3ef4gh5ij6kl7mn2op3qr
  redrive dead-letters show email.send:order-1001.receipt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := env.deadLetter(args[0])
			if err != nil {
				return err
			}
			return env.withStore(cmd.Context(), func(db *store.DB) error {
				letter, err := db.DeadLetter(cmd.Context(), name.id)
				if err != nil {
					return env.explain(cmd.Context(), name, err)
				}
				return env.print(letter, func(w io.Writer) { page{w, letter, time.Now()}.write() })
			})
		},
	}
}

// page writes a dead letter for a person. All of its texts are made printable: they come from payloads.
type page struct {
	io.Writer
	letter job.DeadLetter
	now    time.Time
}

func (p page) write() {
	p.header()
	p.attempts()
	p.payload()
	p.effects()
	p.lineage()
	p.replays()
	p.requests()
	p.commands()
}

func (p page) section(title string) { fmt.Fprintf(p, "\n%s\n", title) }

func (p page) header() {
	l := p.letter
	lines := [][]string{
		{"dead letter", string(l.ID)},
		{"job", l.KeyID.String()},
		{"state", string(l.State)},
		{"why", fmt.Sprintf("%s (%s)", l.Class, l.Cause)},
		{"handler", orDash(l.Version)},
		{"failed", fmt.Sprintf("%s, %s ago (first %s)", moment(l.LastFailure), age(l.LastFailure, p.now), moment(l.FirstFailure))},
		{"fingerprint", l.Fingerprint},
		{"kept until", moment(l.KeepUntil)},
	}
	for _, optional := range [][]string{
		{"owner", l.Owner}, {"runbook", l.Runbook}, {"subject", l.Subject}, {"tags", strings.Join(l.Tags, ", ")},
	} {
		if optional[1] != "" {
			lines = append(lines, optional)
		}
	}
	if e := l.Erased; e != nil {
		lines = append(lines, []string{"erased", fmt.Sprintf("%s by %s: %s", moment(e.At), orDash(e.Actor), e.Reason)})
	}
	rows(p, lines)
	fmt.Fprintf(p, "\n%s\n", indented(l.Message, "  "))
}

func (p page) attempts() {
	log := p.letter.Log
	p.section(fmt.Sprintf("%s, %d throttled, %s lost, %s granted",
		plural(log.Counted, "counted attempt"), log.Throttled, plural(log.Lost, "lease"), plural(log.Leases, "lease")))
	if len(log.Entries) == 0 {
		return
	}
	lines := [][]string{{"  #", "AT", "RAN", "CLASS", "COUNTED", "VERSION", "WORKER"}}
	last := 0
	for _, a := range log.Entries {
		if a.Seq > last+1 {
			lines = append(lines, []string{"  …"}) // the log keeps the first and the latest
		}
		last = a.Seq
		lines = append(lines, []string{
			"  " + strconv.Itoa(a.Seq), moment(a.Started), ran(a.Ran), string(a.Class),
			strconv.FormatBool(a.Counted), orDash(a.Version), orDash(a.Worker),
		})
	}
	rows(p, lines)
}

func (p page) payload() {
	title := "payload, redacted"
	if r := p.letter.Redaction; r != nil {
		switch {
		case r.Withheld:
			title = "payload, withheld: " + printable(r.Reason)
		default:
			title = fmt.Sprintf("payload, redacted; removed: %d (%s by name or path, %s by detectors)",
				r.Fields+r.Values, plural(r.Fields, "field"), plural(r.Values, "value"))
		}
	}
	if len(p.letter.RedactedPayload) == 0 {
		return
	}
	p.section(title)
	var pretty bytes.Buffer
	if json.Indent(&pretty, p.letter.RedactedPayload, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(p.letter.RedactedPayload)
	}
	fmt.Fprintln(p, indented(pretty.String(), "  "))
}

// effects lists what the ledger knows.
func (p page) effects() {
	if len(p.letter.Effects) == 0 {
		return
	}
	p.section("effects in the ledger")
	lines := [][]string{{"  EFFECT", "STATE", "SINCE", ""}}
	for _, e := range p.letter.Effects {
		note := ""
		if e.Unsettled {
			note = "nobody knows whether it happened: reconcile it"
		}
		lines = append(lines, []string{"  " + e.Name, string(e.State), moment(e.UpdatedAt), note})
	}
	rows(p, lines)
	if len(p.letter.Effects) == job.MaxListedEffects {
		fmt.Fprintln(p, "  … there may be more")
	}
}

// lineage lists the runs that failed, when there is more than the one above.
func (p page) lineage() {
	if len(p.letter.Failures) < 2 {
		return
	}
	p.section("failures of this key, oldest first")
	lines := [][]string{{"  RUN", "AT", "REPLAY", "CLASS", "CAUSE", "VERSION", "MESSAGE"}}
	for _, f := range p.letter.Failures {
		first, _, _ := strings.Cut(f.Message, "\n")
		lines = append(lines, []string{
			"  " + f.RunID, moment(f.LastFailure), strconv.Itoa(f.Replay), string(f.Class), string(f.Cause), orDash(f.Version), first,
		})
	}
	rows(p, lines)
}

func (p page) replays() {
	if len(p.letter.History) == 0 {
		return
	}
	p.section("replays")
	lines := [][]string{{"  #", "AT", "ACTOR", "OUTCOME", "REASON", "DETAIL"}}
	for _, r := range p.letter.History {
		outcome := string(r.Outcome)
		if outcome == "" {
			outcome = "running"
		}
		if r.Forced {
			outcome += " (forced)"
		}
		lines = append(lines, []string{"  " + strconv.Itoa(r.Number), moment(r.StartedAt), r.Actor, outcome, r.Reason, r.Detail})
	}
	rows(p, lines)
}

func (p page) requests() {
	if len(p.letter.Requests) == 0 {
		return
	}
	p.section("requests (actors as claimed)")
	lines := [][]string{{"  AT", "KIND", "ACTOR", "DECISION", "TEXT"}}
	for _, r := range p.letter.Requests {
		decision, text := "accepted", r.Reason
		if r.Kind == job.RequestAnnotate {
			text = r.Text
		}
		if r.Kind == job.RequestReconcile && r.Happened != nil {
			text = fmt.Sprintf("%s happened: %t; %s", r.Effect, *r.Happened, r.Reason)
		}
		if !r.Accepted {
			decision = "refused"
		}
		if r.Refusal != nil {
			decision += ", " + string(r.Refusal.Code)
			text += " → " + r.Refusal.Detail
		}
		lines = append(lines, []string{"  " + moment(r.At), string(r.Kind), r.Actor, decision, text})
	}
	rows(p, lines)
}

// commands says how to go on, where that is possible.
func (p page) commands() {
	if p.letter.State != job.StateDeadLettered {
		return
	}
	names, known := p.letter.ToReconcile()
	if !known {
		names = []string{"EFFECT"}
	}
	if len(names) > 0 {
		p.section("first settle whether each unsettled effect happened, such as with")
		fmt.Fprintf(p, "  redrive dead-letters reconcile %s --effect %s --happened true|false --reason '…'\n", p.letter.ID, printable(names[0]))
	}
	p.section("replay it once the handler is repaired, with either of")
	fmt.Fprintf(p, "  redrive dead-letters replay %s --reason '…'\n", p.letter.ID)
	fmt.Fprintf(p, "  %s\n", printable(job.ReplayCommand(p.letter.Namespace, p.letter.KeyID)))
	if p.letter.NotBefore != nil && p.letter.NotBefore.After(p.now) {
		fmt.Fprintf(p, "  not before %s\n", moment(*p.letter.NotBefore))
	}
}
