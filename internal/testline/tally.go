package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of `go test -json` (`go doc cmd/test2json`), or of the `go build -json` lines mixed into it.
type event struct {
	Action      string
	Package     string
	ImportPath  string // build-output, build-fail: like "example.org/x [example.org/x.test]"
	Test        string
	Elapsed     float64 // seconds
	Output      string
	FailedBuild string // on a package's fail: the ImportPath whose build failed
}

// outcome is a leaf test, or a package, that failed or was skipped.
type outcome struct {
	name   string
	output []string
}

// tally adds up the events of one or more commands.
type tally struct {
	out     io.Writer
	passed  int
	failed  []outcome
	skipped []outcome

	open   map[string]*packageRun // by import path
	builds map[string][]string    // compiler output by ImportPath
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, open: map[string]*packageRun{}, builds: map[string][]string{}}
}

// read takes one command's output to its end. Packages that were started and got no verdict have failed.
func (t *tally) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			t.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read test output: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.open)) {
		t.close(t.open[name], event{Action: "fail", Package: name, Output: "no verdict"})
	}
	return nil
}

func (t *tally) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(t.out, "%s", line) // not an event: a message of the go command
		return
	}
	switch {
	case e.Action == "build-output":
		t.builds[e.ImportPath] = append(t.builds[e.ImportPath], e.Output)
	case e.Package == "":
	case e.Test != "":
		t.packageOf(e).test(e)
	case e.Action == "output":
		t.packageOf(e).output = append(t.packageOf(e).output, e.Output)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		t.close(t.packageOf(e), e)
	default:
		t.packageOf(e)
	}
}

func (t *tally) packageOf(e event) *packageRun {
	p := t.open[e.Package]
	if p == nil {
		p = &packageRun{name: e.Package, tests: map[string]*testRun{}}
		t.open[e.Package] = p
	}
	return p
}

// close books a finished package and prints its line.
func (t *tally) close(p *packageRun, e event) {
	delete(t.open, p.name)
	passed, failed, skipped := p.leaves()
	if e.Action == "fail" && len(failed) == 0 {
		output := p.output
		if e.FailedBuild != "" {
			output = append(slices.Clone(t.builds[e.FailedBuild]), output...)
		}
		failed = []outcome{{name: p.name, output: output}}
	}
	t.passed += passed
	t.failed = append(t.failed, failed...)
	t.skipped = append(t.skipped, skipped...)
	if e.Action == "skip" && passed+len(failed)+len(skipped) == 0 {
		return // no test files
	}
	verdict := "ok  "
	if len(failed) > 0 {
		verdict = "FAIL"
	}
	fmt.Fprintf(t.out, "%s %7.2fs  %s: %s\n", verdict, e.Elapsed, p.name, counts(passed, len(failed), len(skipped)))
}

func counts(passed, failed, skipped int) string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped)
}

// report prints what a reader needs at the end, and returns the number of failures.
func (t *tally) report(empty string) int {
	for _, o := range t.skipped {
		reason := strings.Join(slices.DeleteFunc(slices.Clone(o.output), isVerdict), "")
		fmt.Fprintf(t.out, "skipped: %s: %s\n", o.name, strings.Join(strings.Fields(reason), " "))
	}
	t.explain(t.failed)
	if empty != "" && t.passed+len(t.failed)+len(t.skipped) == 0 {
		fmt.Fprintln(t.out, empty)
	}
	fmt.Fprintln(t.out, "tests: "+counts(t.passed, len(t.failed), len(t.skipped)))
	return len(t.failed)
}

// maxLines bounds one test's output in the report; the end is kept, where a failure says what it wanted.
const maxLines = 200

func (t *tally) explain(failed []outcome) {
	for _, o := range failed {
		fmt.Fprintf(t.out, "\n--- FAILED: %s\n", o.name)
		lines := strings.SplitAfter(strings.Join(o.output, ""), "\n")
		if extra := len(lines) - maxLines; extra > 0 {
			fmt.Fprintf(t.out, "    … %d lines left out\n", extra)
			lines = lines[extra:]
		}
		for _, line := range lines {
			if line != "" {
				fmt.Fprintf(t.out, "    %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	if len(failed) > 0 {
		fmt.Fprintln(t.out)
	}
}
