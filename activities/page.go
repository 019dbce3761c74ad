package activities

import (
	"fmt"
	"strings"
	"time"

	"github.com/redrivehq/redrive/job"
)

// Limits of what the Temporal Web UI shows of a dead letter, in bytes of JSON: the server's are 400 for summaries and 20,000
// for details, both measured after encryption, which adds up to 255 (see job.PayloadBinding).
const (
	maxSummaryBytes = 140
	maxPayloadBytes = 8000
)

// page composes the summary and the details (markdown) that make a dead letter readable in the Temporal Web UI by
// itself. Everything in it comes from the redacted record; text from outside stands in code spans and fences that it
// cannot leave.
func page(letter job.DeadLetter) (summary, details string) {
	summary = fmt.Sprintf("%s (%s)", letter.Class, letter.Cause)
	if line := firstLine(letter.Message); line != "" {
		summary += ": " + span(cutJSON(line, maxSummaryBytes-len(summary)-len(": ``")))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**, cause **%s**\n\n", letter.Class, letter.Cause)
	fmt.Fprintf(&b, "- job: %s\n", span(letter.KeyID.String()))
	fmt.Fprintf(&b, "- dead letter: `%s`\n", letter.ID)
	fmt.Fprintf(&b, "- attempts: %d counted, %d throttled, %d leases lost, %d leases granted\n",
		letter.Log.Counted, letter.Log.Throttled, letter.Log.Lost, letter.Log.Leases)
	if letter.Version != "" {
		fmt.Fprintf(&b, "- handler version: %s\n", span(letter.Version))
	}
	fmt.Fprintf(&b, "- failed: %s\n", letter.LastFailure.UTC().Format(time.RFC3339))
	if letter.Owner != "" {
		fmt.Fprintf(&b, "- owner: %s\n", span(letter.Owner))
	}
	fmt.Fprintf(&b, "\n%s\n", fence("text", letter.Message))
	if len(letter.RedactedPayload) > 0 {
		fmt.Fprintf(&b, "\nPayload, redacted:\n\n%s\n", fence("json", cutJSON(string(letter.RedactedPayload), maxPayloadBytes)))
	}
	b.WriteString(unsettled(letter))
	fmt.Fprintf(&b, "\nReplay it once the handler is repaired:\n\n%s\n", fence("sh", job.ReplayCommand(letter.Namespace, letter.KeyID)))
	return summary, b.String()
}

// maxCommands is how many effects a page shows a command for; the others are named.
const maxCommands = 3

// unsettled is what must be found out before a replay.
func unsettled(letter job.DeadLetter) string {
	names, known := letter.ToReconcile()
	if !known {
		names = []string{"EFFECT"} // any name will do, to say that it did not happen
	}
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n**Nobody knows whether these effects happened.** Find out, and reconcile each before a replay:\n\n")
	for i, name := range names {
		fmt.Fprintf(&b, "- %s\n", span(name))
		if i < maxCommands {
			fmt.Fprintf(&b, "\n%s\n\n", fence("sh", job.ReconcileCommand(letter.Namespace, letter.KeyID, name)))
		}
	}
	return b.String()
}

// firstLine is the first line with text in it.
func firstLine(s string) string {
	line := strings.TrimSpace(s)
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	return line
}

// span is an inline code span that its content cannot leave.
func span(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }

// fence is a code block whose fence is longer than any run of its mark inside. Of the two marks markdown knows it takes
// the one with the shorter fence, so that a body of nothing but marks does not treble.
func fence(language, body string) string {
	marks, tildes := "```", "~~~"
	for strings.Contains(body, marks) {
		marks += "`"
	}
	for strings.Contains(body, tildes) {
		tildes += "~"
	}
	if len(tildes) < len(marks) {
		marks = tildes
	}
	return marks + language + "\n" + body + "\n" + marks
}
