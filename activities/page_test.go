package activities_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

// outside returns what of a markdown text stands in no code block, and the number of blocks.
func outside(t *testing.T, details string) (text string, blocks int) {
	t.Helper()
	open := ""
	for _, line := range strings.Split(details, "\n") {
		marks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if marks == "" {
			marks = line[:len(line)-len(strings.TrimLeft(line, "~"))]
		}
		switch {
		case open == "" && len(marks) >= 3:
			open = marks
			blocks++
		case open != "" && strings.HasPrefix(marks, open) && line == marks:
			open = ""
		case open == "":
			text += line + "\n"
		}
	}
	require.Empty(t, open, "a code block is left open")
	return text, blocks
}

func TestDetailsAreInertAndBounded(t *testing.T) {
	t.Parallel()
	t.Run("OnlyMarks", func(t *testing.T) {
		t.Parallel()
		for _, marks := range []string{"`", "~", "`~", "~~~~```"} {
			m := newMorgue(t)
			m.startedWith(t, envelope(`"`+strings.Repeat(marks, 9000)+`"`))
			death, _ := m.record(t, notice(func(n *job.DeathNotice) { n.Message = strings.Repeat(marks, 2000) }))
			requireFits(t, death)
			_, blocks := outside(t, death.Details)
			require.Equal(t, 3, blocks)
		}
	})
	t.Run("SummaryIsACodeSpan", func(t *testing.T) {
		t.Parallel()
		for _, message := range []string{"[click](https://evil.example) <b>", "a ` b", "\n\nlate", strings.Repeat("é", 400), strings.Repeat("<", 400), ""} {
			m := newMorgue(t)
			m.startedWith(t, envelope(`{}`))
			death, _ := m.record(t, notice(func(n *job.DeathNotice) { n.Message = message }))
			requireFits(t, death)
			require.Regexp(t, "^rejected \\(poison\\)(: `[^`\n]+`)?$", death.Summary, "the summary is markdown too")
			require.True(t, utf8.ValidString(death.Summary))
		}
	})
	const evil = "```\\n[click](javascript:alert)\\n````\\n<img src=x onerror=alert>\\n~~~"
	for name, payload := range map[string]string{
		"Markup":           `{"note":"` + evil + `","x":"<script>"}`,
		"Long":             `{"list":[` + strings.Repeat(`"word <b>",`, 20_000) + `"end"]}`,
		"Backticks":        `{"note":"` + strings.Repeat("`", 15_000) + `"}`,
		"JSONWritesItLong": `{"note":"` + strings.Repeat("<", 15_000) + `"}`,
		"ManyObjects":      `[` + strings.Repeat(`{"a":"b"},`, 20_000) + `1]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMorgue(t)
			m.startedWith(t, envelope(payload))
			death, _ := m.record(t, notice(func(n *job.DeathNotice) {
				n.Message = strings.ReplaceAll(evil, "\\n", "\n") + strings.Repeat(" `<i>", 3000)
				n.Report.Version = "v1`[x](y)`"
			}))
			requireFits(t, death)
			text, blocks := outside(t, death.Details)
			require.Equal(t, 3, blocks, "message, payload, command: %s", death.Details)
			for _, mark := range []string{"<img", "<script", "javascript:", "click", "<i>"} {
				require.NotContains(t, text, mark)
			}
			require.NotContains(t, death.Summary, "\n")
		})
	}
}
