package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"
)

// The output formats.
const (
	outputTable = "table"
	outputJSON  = "json"
)

func (e *environment) checkOutput() error {
	if e.output != outputTable && e.output != outputJSON {
		return usagef("--output is %q, allowed are %s and %s", e.output, outputTable, outputJSON)
	}
	return nil
}

// print writes v as JSON, or leaves it to table, whatever the user wants.
func (e *environment) print(v any, table func(io.Writer)) error {
	var b bytes.Buffer
	if e.output == outputJSON {
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(v); err != nil {
			return fmt.Errorf("encode the output: %w", err)
		}
		_, err := io.WriteString(e.stdout, printableJSON(b.String()))
		return err
	}
	table(&b)
	_, err := e.stdout.Write(b.Bytes())
	return err
}

// printable makes text from outside harmless on a terminal: what is not printable (escape sequences, C1 controls, marks
// that turn the direction of writing) is spelled out.
func printable(text string) string {
	if text = strings.ToValidUTF8(text, "\ufffd"); strings.IndexFunc(text, unprintable) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		writeRune(&b, r, unprintable(r))
	}
	return b.String()
}

// printableLines is printable for text whose line breaks are meant.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(strings.ReplaceAll(line, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// printableJSON means the same to a parser. In encoded JSON a line break stands between tokens only.
func printableJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		writeRune(&b, r, r != '\n' && unprintable(r))
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// writeRune spells r out as JSON does.
func writeRune(b *strings.Builder, r rune, spelled bool) {
	switch {
	case !spelled:
		b.WriteRune(r)
	case r > 0xffff:
		fmt.Fprintf(b, `\u%04x\u%04x`, (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// rows writes lines in columns, every cell made printable.
func rows(w io.Writer, lines [][]string) {
	table := tabwriter.NewWriter(w, 0, 0, columnGap, ' ', 0)
	for _, line := range lines {
		cells := make([]string, len(line))
		for i, cell := range line {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	table.Flush() //nolint:errcheck // w is a buffer
}

// columnGap is between two columns of rows.
const columnGap = 2

// narrow shortens the cells of a column, to no less than least, where lines would be wider than limit.
func narrow(lines [][]string, column, least, limit int) {
	total, have := 0, 0
	for i := range lines[0] {
		widest := 0
		for _, line := range lines {
			widest = max(widest, utf8.RuneCountInString(printable(line[i])))
		}
		if i == column {
			have = widest
		}
		total += widest + columnGap
	}
	total -= columnGap // there is none after the last
	if total <= limit {
		return
	}
	want := max(have-(total-limit), least)
	for _, line := range lines {
		if cell := []rune(printable(line[column])); len(cell) > want {
			line[column] = string(cell[:want-1]) + "…"
		}
	}
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// indented makes text printable and puts prefix before each line.
func indented(text, prefix string) string {
	return prefix + strings.ReplaceAll(printableLines(text), "\n", "\n"+prefix)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// ran is how long an attempt took.
func ran(d time.Duration) string {
	if d > 0 && d < time.Millisecond {
		return "<1ms"
	}
	return d.Round(time.Millisecond).String()
}

// age is how long ago t was, in the one unit that matters.
func age(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}
