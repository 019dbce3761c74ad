package redaction

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// record is the state of one call: what was found and counted, and how long it may still take.
type record struct {
	findings []finding
	report   Report
	deadline time.Time
	steps    int
	keys     map[string]keyMatch // names repeat in arrays of objects
}

func (r *Redactor) newRecord() *record {
	return &record{deadline: time.Now().Add(r.policy.Budget), keys: map[string]keyMatch{}}
}

// spend checks the time budget now and then: a clock call per node would cost more than the node.
func (rec *record) spend() error {
	if rec.steps++; rec.steps%64 == 1 && time.Now().After(rec.deadline) {
		return stop(ReasonTimeBudget)
	}
	return nil
}

func (rec *record) matchKey(r *Redactor, name string) keyMatch {
	match, seen := rec.keys[name]
	if !seen {
		match = r.matchKey(name)
		rec.keys[name] = match
	}
	return match
}

// find notes the value of a removed field, and each line of it: a log shows lines.
func (rec *record) find(rule, text string, number bool) {
	repeated := rule != ruleUnlisted
	rec.findings = append(rec.findings, finding{rule: rule, text: text, number: number, global: repeated})
	trimmed := strings.TrimSpace(text)
	if trimmed != text {
		rec.findings = append(rec.findings, finding{rule: rule, text: trimmed, global: repeated})
	}
	if !strings.Contains(trimmed, "\n") {
		return
	}
	for line := range strings.Lines(trimmed) {
		if line = strings.TrimSpace(line); len(line) >= minTaint {
			rec.findings = append(rec.findings, finding{rule: rule, text: line, global: repeated})
		}
	}
}

// findSpans notes what detectors removed from a string.
func (rec *record) findSpans(text string, spans []span, number bool) {
	for _, s := range spans {
		rec.findings = append(rec.findings, finding{rule: s.rule, text: text[s.start:s.end], number: number, global: true})
	}
}

// render writes the document with every leaf's rule applied, and counts.
func (d *document) render(rec *record) string {
	d.nameKeys()
	slices.SortFunc(d.leaves, func(a, b leaf) int { return a.start - b.start })
	var out strings.Builder
	at := 0
	for i := range d.leaves {
		l := &d.leaves[i]
		if l.kind != fieldLeaf && len(l.spans) == 0 && !l.rewritten {
			continue
		}
		out.WriteString(d.raw[at:l.start])
		out.Write(l.render(rec))
		at = l.end
	}
	out.WriteString(d.raw[at:])
	return out.String()
}

func (l *leaf) render(rec *record) []byte {
	text := ""
	switch {
	case l.kind == fieldLeaf:
		rec.report.Fields++
		rec.report.count(l.rule)
		text = placeholder(l.rule)
	case l.kind == numberLeaf:
		rec.report.Values++
		rec.report.count(l.spans[0].rule)
		text = placeholder(l.spans[0].rule)
	default:
		for _, s := range l.spans {
			rec.report.Values++
			rec.report.count(s.rule)
		}
		text = splice(l.text, l.spans) + l.suffix
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil { // the text was decoded from valid JSON and placeholders are ASCII
		panic("redaction: a redacted string is not UTF-8")
	}
	return quoted
}

// nameKeys numbers the member names that became equal: two addresses as keys of one object must stay two members.
func (d *document) nameKeys() {
	changed := map[int]bool{}
	for i := range d.leaves {
		if l := &d.leaves[i]; l.kind == keyLeaf && len(l.spans) > 0 {
			changed[l.object] = true
		}
	}
	if len(changed) == 0 {
		return
	}
	used := map[keyName]bool{}
	for i := range d.leaves {
		if l := &d.leaves[i]; l.kind == keyLeaf && changed[l.object] && len(l.spans) == 0 {
			used[keyName{l.object, l.text}] = true
		}
	}
	counter := map[keyName]int{}
	for i := range d.leaves {
		l := &d.leaves[i]
		if l.kind != keyLeaf || len(l.spans) == 0 {
			continue
		}
		base := keyName{l.object, splice(l.text, l.spans)}
		name := base
		for used[name] {
			counter[base]++
			name.name = base.name + "#" + strconv.Itoa(counter[base]+1)
		}
		used[name] = true
		l.suffix = strings.TrimPrefix(name.name, base.name)
	}
}

// keyName is a member name within one object of the document.
type keyName struct {
	object int
	name   string
}
