package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/store"
)

func newDeadLetters(env *environment) *cobra.Command {
	cmd := group("dead-letters", "Look at jobs that stopped for good, and decide what becomes of them", `
A dead letter is named by its id (dl_…) or by type:key.`)
	cmd.Aliases = []string{"dl"}
	cmd.AddCommand(newList(env), newShow(env), newReplay(env), newReconcile(env), newDiscard(env), newAnnotate(env), newErase(env))
	return cmd
}

func newList(env *environment) *cobra.Command {
	var q store.Query
	var state, jobType, class, cause, since, until string
	cmd := &cobra.Command{
		Use: "list", Short: "List dead letters, newest failure first", Args: takes(),
		Long: `List dead letters, newest failure first.

Long types, keys and versions are shortened to keep the table within a terminal; -o json shortens nothing.`,
		Example: `  redrive dead-letters list
  redrive dead-letters list --state dead_lettered --type email.send --since 24h
  redrive dead-letters list -o json | jq -r '.dead_letters[].id'`,
	}
	flags := cmd.Flags()
	flags.StringVar(&state, "state", "", "only this job `state`, such as dead_lettered")
	flags.StringVar(&jobType, "type", "", "only this job `type`")
	flags.StringVar(&class, "error-class", "", "only this error `class`")
	flags.StringVar(&class, "class", "", "--error-class")
	_ = flags.MarkHidden("class") // its name in earlier versions; the only error is an unknown name
	flags.StringVar(&cause, "cause", "", "only this `cause` of dead-lettering")
	flags.StringVar(&q.Fingerprint, "fingerprint", "", "only failures that look alike")
	flags.StringVar(&q.Version, "handler-version", "", "only failures of this handler `version`")
	flags.StringVar(&since, "since", "", "newest failure after: a `time` (RFC 3339), or a duration ago")
	flags.StringVar(&until, "until", "", "newest failure before; given like --since")
	flags.IntVar(&q.Limit, "limit", store.DefaultPage, "at most this many")
	flags.StringVar(&q.Cursor, "cursor", "", "where the page before ended")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		now := time.Now()
		q.State, q.Type, q.Class, q.Cause = job.State(state), job.Type(jobType), job.Class(class), job.Cause(cause)
		var err error
		if q.Since, err = parseAgo("--since", since, now); err != nil {
			return err
		}
		if q.Until, err = parseAgo("--until", until, now); err != nil {
			return err
		}
		if err := checkFilters(q); err != nil {
			return err
		}
		return env.withStore(cmd.Context(), func(db *store.DB) error {
			page, err := db.DeadLetters(cmd.Context(), q)
			if err != nil {
				return err
			}
			return env.printPage(page, q.Cursor != "", now)
		})
	}
	return cmd
}

// checkFilters refuses names that no list holds: a typing error would look like good news.
func checkFilters(q store.Query) error {
	return errors.Join(
		oneOf("--state", q.State, job.AllStates()),
		oneOf("--error-class", q.Class, job.AllClasses()),
		oneOf("--cause", q.Cause, job.AllCauses()),
	)
}

func oneOf[N ~string](flag string, given N, allowed []N) error {
	if given == "" || slices.Contains(allowed, given) {
		return nil
	}
	names := make([]string, len(allowed))
	for i, name := range allowed {
		names[i] = string(name)
	}
	return usagef("%s is %q, allowed are %s", flag, string(given), strings.Join(names, ", "))
}

// parseAgo reads a time, or a duration before now.
func parseAgo(flag, given string, now time.Time) (time.Time, error) {
	if given == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(given); err == nil {
		return now.Add(-d), nil
	}
	at, err := time.Parse(time.RFC3339, given)
	if err != nil {
		return at, usagef("%s is %q, allowed are a time such as 2026-05-01T12:00:00Z and a duration such as 24h", flag, given)
	}
	return at, nil
}

// listed is a page in JSON; the admin API's has the same shape.
type listed struct {
	Letters []job.DeadLetter `json:"dead_letters"`
	Next    string           `json:"next,omitempty"`
}

// printPage leaves the count on stderr: lines of stdout are dead letters. later: it is not the first page.
func (e *environment) printPage(page store.Page, later bool, now time.Time) error {
	result := listed{Letters: page.Letters, Next: page.Next}
	if result.Letters == nil {
		result.Letters = []job.DeadLetter{} // an empty list, not null
	}
	err := e.print(result, func(w io.Writer) {
		if len(result.Letters) == 0 {
			fmt.Fprintln(w, "no dead letters")
			return
		}
		rows(w, listLines(result.Letters, now))
	})
	if err != nil || e.output != outputTable || len(result.Letters) == 0 {
		return err
	}
	switch n := len(result.Letters); {
	case result.Next != "":
		fmt.Fprintf(e.stderr, "%d shown, more with --cursor %s\n", n, printable(result.Next))
	case later:
		fmt.Fprintf(e.stderr, "%d shown, the last page\n", n)
	default:
		fmt.Fprintln(e.stderr, plural(n, "dead letter"))
	}
	return nil
}

// listWidth is how wide the table may be.
const listWidth = 140

func listLines(letters []job.DeadLetter, now time.Time) [][]string {
	lines := [][]string{{"ID", "TYPE", "KEY", "VERSION", "CLASS", "CAUSE", "COUNTED", "AGE", "STATE", "FINGERPRINT"}}
	for _, l := range letters {
		lines = append(lines, []string{
			string(l.ID), string(l.Type), string(l.Key), orDash(l.Version), string(l.Class), string(l.Cause),
			strconv.Itoa(l.Log.Counted), age(l.LastFailure, now), string(l.State), l.Fingerprint,
		})
	}
	const typeColumn, keyColumn, versionColumn = 1, 2, 3
	narrow(lines, keyColumn, 18, listWidth)
	narrow(lines, versionColumn, 8, listWidth)
	narrow(lines, typeColumn, 10, listWidth)
	narrow(lines, keyColumn, 10, listWidth)
	return lines
}
