package main

import (
	"maps"
	"slices"
	"strings"
)

// packageRun collects one package's tests until its verdict comes.
type packageRun struct {
	name   string
	tests  map[string]*testRun // by full name, Test/sub
	output []string            // of the package itself: TestMain, panics, timeouts
}

type testRun struct {
	verdict string // pass, fail, skip; empty while it runs or waits
	output  []string
}

func (p *packageRun) test(e event) {
	t := p.tests[e.Test]
	if t == nil {
		t = &testRun{}
		p.tests[e.Test] = t
	}
	switch e.Action {
	case "output":
		if !isFraming(e.Output) {
			t.output = append(t.output, e.Output)
		}
	case "pass", "fail", "skip":
		t.verdict = e.Action
	}
}

// isFraming tells the lines that repeat what the events say.
func isFraming(line string) bool {
	for _, prefix := range []string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// leaves returns the verdicts of the tests that count. A parent sorts before its sub-tests, so they are visited backwards;
// covered holds the parents whose failure or skip a sub-test has accounted for.
func (p *packageRun) leaves() (passed int, failed, skipped []outcome) {
	parents, covered := p.parents(), map[string]bool{}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(p.tests))) {
		verdict := p.tests[name].verdict
		if verdict == "" {
			verdict = "fail" // still running when the package ended
		}
		counted := !covered[verdict+name] && (verdict != "pass" || !parents[name])
		switch {
		case verdict == "pass" && counted:
			passed++
		case verdict == "fail" && counted:
			failed = append(failed, outcome{name: p.name + " " + name, output: p.story(name)})
		case verdict == "skip" && counted:
			skipped = append(skipped, outcome{name: p.name + " " + name, output: p.story(name)})
		}
		if verdict != "pass" {
			covered[verdict+p.parentOf(name)] = true
		}
	}
	slices.Reverse(failed)
	slices.Reverse(skipped)
	return passed, failed, skipped
}

// story is the output to read for a test: its parents' first, since what they set up often explains it, and the package's
// where the test never got a verdict, since that holds the panic or the timeout.
func (p *packageRun) story(name string) []string {
	var lines []string
	if parent := p.parentOf(name); parent != "" {
		lines = slices.DeleteFunc(p.story(parent), isVerdict)
	}
	t := p.tests[name]
	lines = append(lines, t.output...)
	if t.verdict == "" && !slices.Contains(lines, noVerdict) {
		lines = append(append(lines, noVerdict), p.output...)
	}
	return lines
}

const noVerdict = "no verdict: the package ended while this test ran or waited\n"

func isVerdict(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "--- ") }

func (p *packageRun) parents() map[string]bool {
	parents := map[string]bool{}
	for name := range p.tests {
		parents[p.parentOf(name)] = true
	}
	return parents
}

// parentOf returns the nearest test above name, which may itself have slashes in its last part, or nothing.
func (p *packageRun) parentOf(name string) string {
	for cut := strings.LastIndexByte(name, '/'); cut > 0; cut = strings.LastIndexByte(name, '/') {
		name = name[:cut]
		if p.tests[name] != nil {
			return name
		}
	}
	return ""
}
