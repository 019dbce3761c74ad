package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"plain äöü 日本":     "plain äöü 日本",
		"\x1b[31mred\x07":  `\u001b[31mred\u0007`,
		"c1 \u009b2J":      `c1 \u009b2J`,
		"turned \u202egnp": `turned \u202egnp`,
		"two\nlines\ttab":  `two\u000alines\u0009tab`,
		"tag \U000e0001":   `tag \udb40\udc01`,
		"broken \xff":      "broken \ufffd",
		"hidden\u200bhere": `hidden\u200bhere`,
	} {
		require.Equal(t, want, printable(given), "printable(%q)", given)
	}
	require.Equal(t, "  a\n  b    c \\u001b", indented("a\nb\tc \x1b", "  "))
}

// TestPrintJSON: what is spelled out for a terminal means the same to a parser.
func TestPrintJSON(t *testing.T) {
	t.Parallel()
	given := map[string]string{"key": "\x1b \u009b \u202e \U000e0001 <&> \u2028 ä"}
	var out bytes.Buffer
	env := &environment{stdout: &out, output: outputJSON}
	require.NoError(t, env.print(given, nil))
	for _, r := range out.String() {
		require.True(t, r == '\n' || !unprintable(r), "%q in %q", r, out.String())
	}
	var read map[string]string
	require.NoError(t, json.Unmarshal(out.Bytes(), &read))
	require.Equal(t, given, read)
	require.Contains(t, out.String(), "<&>")
}

func TestRows(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	rows(&out, [][]string{{"A", "B"}, {"a\tb\n", "c"}})
	require.Equal(t, "A               B\na\\u0009b\\u000a  c\n", out.String())
}

// TestListWidth: the table stays within its width, and what names a dead letter and its group stays whole.
func TestListWidth(t *testing.T) {
	t.Parallel()
	letter := job.DeadLetter{ID: job.NewDeadLetterID("default", job.KeyID{Type: "a", Key: "k"}), State: job.StateDeadLettered}
	letter.KeyID = job.KeyID{Type: "email.send", Key: "order-1002.receipt"}
	letter.Class, letter.Cause, letter.Fingerprint = job.ClassInvalidPayload, job.CausePoison, "0123456789ab"
	letter.LastFailure = time.Now().Add(-20 * 24 * time.Hour)
	width := func() int {
		var out bytes.Buffer
		rows(&out, listLines([]job.DeadLetter{letter}, time.Now()))
		require.Contains(t, out.String(), string(letter.ID))
		require.Contains(t, out.String(), letter.Fingerprint)
		line, _, _ := strings.Cut(out.String(), "\n")
		return utf8.RuneCountInString(line)
	}
	letter.Version = "v1"
	var out bytes.Buffer
	rows(&out, listLines([]job.DeadLetter{letter}, time.Now()))
	require.Contains(t, out.String(), " COUNTED ", "attempts that lost leases or throttles are not in it")
	require.Contains(t, out.String(), "order-1002.receipt  v1 ", "nothing is shortened without need")
	require.LessOrEqual(t, width(), listWidth)
	letter.KeyID = job.KeyID{Type: "webhook.deliver.eu", Key: job.Key(strings.Repeat("long.", 30))}
	letter.Version = "v1.2.3-0.20260501120000-abcdefabcdef"
	letter.Class, letter.Cause = job.ClassHandlerDefect, job.CauseAttemptsSpent
	require.LessOrEqual(t, width(), listWidth)
}

func TestPlural(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1 lease", plural(1, "lease"))
	require.Equal(t, "0 leases", plural(0, "lease"))
}

func TestAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 59 * time.Second: "59s", time.Minute: "1m", 119 * time.Minute: "1h",
		47 * time.Hour: "47h", 48 * time.Hour: "2d",
	} {
		require.Equal(t, want, age(now.Add(-ago), now), ago.String())
	}
}
