package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// timeline prints the demo's story, one line an event, with the seconds since it began.
type timeline struct {
	out   io.Writer
	start time.Time
	color bool
}

func (t timeline) chapter(title string) {
	if t.color {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	fmt.Fprintf(t.out, "\n%s\n", title) //nolint:errcheck // the terminal is gone
}

func (t timeline) say(mark, format string, args ...any) {
	if t.color {
		mark = map[string]string{"✓": "\x1b[32m✓\x1b[0m", "✗": "\x1b[31m✗\x1b[0m", "!": "\x1b[33m!\x1b[0m"}[mark] + plainMark(mark)
	}
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n           ")
	fmt.Fprintf(t.out, "%7.1fs %s %s\n", time.Since(t.start).Seconds(), mark, text) //nolint:errcheck // the terminal is gone
}

// plainMark returns marks that have no color of their own.
func plainMark(mark string) string {
	if strings.ContainsAny(mark, "✓✗!") {
		return ""
	}
	return mark
}

// isTerminal tells whether w is a person's terminal, where color helps; in a file or a pipe it would not.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
