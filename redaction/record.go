package redaction

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// record is the state of one call: what was found and counted, and how much it may still cost.
type record struct {
	findings []finding
	counts   tally
	deadline time.Time
	steps    int
	pass     int        // over the document, from 0
	needles  *needleSet // of the first searched findings
	searched int
	again    bool // verification found a copy: they are looked for once more
	tokens   int
	nesting  Surface // what strings of the document being written are called in the report
	decode   decodeBudget
	keys     map[string]*knownKey // names repeat in arrays of objects
	recent   [64]*knownKey        // some of them, by a hash that costs nothing
	nodes    *[]node              // memory for the outermost document's
}

// knownKey is what one look at a member's name found.
type knownKey struct {
	raw     string // as spelled, without its quotes
	name    string
	match   keyMatch
	spans   []span
	context bool // the name says what a number under it is
}

// finding is a value that a rule removes: what Taint collects and what verification searches for.
type finding struct {
	rule   string
	text   string
	number bool
	global bool // also removed where it is repeated elsewhere in the payload
}

func (r *Redactor) newRecord() *record {
	return &record{
		deadline: time.Now().Add(r.policy.Budget), tokens: r.policy.MaxTokens, decode: decodeBudget{left: r.policy.MaxDecode},
		counts: tally{}, keys: map[string]*knownKey{}, nesting: SurfaceString,
	}
}

// nodePool spares a large allocation per payload. Nodes hold places only, no values.
var nodePool = sync.Pool{New: func() any { return new([]node) }}

// nodesFor returns memory for the nodes of a document. The passes over one payload share it.
func (rec *record) nodesFor(raw string, nesting int) []node {
	if nesting > 0 {
		return make([]node, 0, len(raw)/16+1)
	}
	if rec.nodes == nil {
		rec.nodes = nodePool.Get().(*[]node)
	}
	if size := len(raw)/16 + 1; cap(*rec.nodes) < size {
		*rec.nodes = make([]node, 0, size)
	}
	return (*rec.nodes)[:0]
}

// keep remembers memory that grew.
func (rec *record) keep(nesting int, nodes []node) {
	if nesting == 0 && rec.nodes != nil {
		*rec.nodes = nodes
	}
}

// release gives the memory back.
func (rec *record) release() {
	if rec.nodes != nil && cap(*rec.nodes) <= 1<<18 {
		nodePool.Put(rec.nodes)
	}
	rec.nodes = nil
}

// spend counts a value, and checks the time budget now and then: a clock call per node would cost more than the node.
func (rec *record) spend() error {
	rec.steps++
	switch {
	case rec.steps > rec.tokens:
		return stop(ReasonTooMany)
	case rec.steps%256 == 1 && time.Now().After(rec.deadline):
		return stop(ReasonTimeBudget)
	case rec.decode.spent:
		return stop(ReasonDecodeBudget)
	}
	return nil
}

// known looks a name up as it is spelled, without its quotes.
func (rec *record) known(r *Redactor, raw string) (*knownKey, error) {
	slot := &rec.recent[0]
	if len(raw) > 0 {
		slot = &rec.recent[(int(raw[0])+int(raw[len(raw)-1])*3+len(raw)*7)&(len(rec.recent)-1)]
	}
	if *slot != nil && (*slot).raw == raw {
		return *slot, nil
	}
	known, seen := rec.keys[raw]
	if !seen {
		name, err := unquote(`"` + raw + `"`)
		if err != nil {
			return nil, err
		}
		known = &knownKey{raw: raw, name: name, match: r.matchKey(name), spans: r.detect(name, "", &rec.decode), context: isContext(name)}
		rec.keys[raw] = known
	}
	*slot = known
	return known, nil
}

// find notes the value of a removed field, and each line of it: a log shows lines.
func (rec *record) find(rule, text string, number bool) {
	repeated := rule != ruleUnlisted
	rec.findings = append(rec.findings, finding{rule: rule, text: text, number: number, global: repeated})
	trimmed := strings.TrimSpace(text)
	if trimmed != text {
		rec.findings = append(rec.findings, finding{rule: rule, text: trimmed, global: repeated})
	}
	if strings.Contains(trimmed, "\n") {
		for line := range strings.Lines(trimmed) {
			if line = strings.TrimSpace(line); len(line) >= minTaint {
				rec.findings = append(rec.findings, finding{rule: rule, text: line, global: repeated})
			}
		}
	}
	if decoded := readableBehind(trimmed); decoded != "" {
		rec.findings = append(rec.findings, finding{rule: rule, text: decoded, global: repeated})
	}
}

// readableBehind is the text that a removed value encodes, as the data of a Kubernetes Secret does: it is as secret as the
// encoded one.
func readableBehind(text string) string {
	if len(text) < minTaint || len(text) > 4096 || strings.ContainsAny(text, " \n") {
		return ""
	}
	decoded := decodeBase64(text)
	for i := 0; i < len(decoded); {
		size := readable(decoded[i:])
		if size == 0 {
			return ""
		}
		i += size
	}
	if len(decoded) < 2*minTaint {
		return ""
	}
	return strings.TrimSpace(string(decoded))
}

// findSpans notes what detectors removed from a string.
func (rec *record) findSpans(text string, spans []span, number bool) {
	for _, s := range spans {
		rec.findings = append(rec.findings, finding{rule: s.rule, text: text[s.start:s.end], number: number, global: true})
	}
}

// render writes the document with every edit applied, and counts. It returns nil when there is nothing to change.
func (d *document) render(r *Redactor, rec *record) ([]byte, error) {
	if len(d.edits) == 0 {
		return nil, nil
	}
	d.nameKeys(r)
	edits := make([]*edit, len(d.edits))
	for i := range d.edits {
		edits[i] = &d.edits[i]
	}
	slices.SortStableFunc(edits, func(a, b *edit) int { return a.start - b.start })
	out := make([]byte, 0, len(d.raw)+32*len(edits))
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue // inside a member that was dropped
		}
		out = append(out, d.raw[at:e.start]...)
		var err error
		if out, err = d.write(out, e, r, rec); err != nil {
			return nil, err
		}
		at = e.end
	}
	return append(out, d.raw[at:]...), nil
}

func (d *document) write(out []byte, e *edit, r *Redactor, rec *record) ([]byte, error) {
	if e.kind == fieldEdit {
		rec.counts.add(r, e.rule, SurfaceField)
		switch {
		case e.dropped && e.element:
			return append(out, "null"...), nil
		case e.dropped:
			return out, nil
		}
		return quoted(out, r.replacement(e.rule, d.plain(e)))
	}
	surface := rec.nesting
	switch e.kind {
	case numberEdit:
		surface = SurfaceNumber
	case keyEdit:
		surface = SurfaceKey
	}
	for _, s := range e.spans {
		rec.counts.add(r, s.rule, surface)
	}
	return quoted(out, r.splice(e.text, e.spans)+e.suffix)
}

// plain is the text of a removed value: of a string without its quotes.
func (d *document) plain(e *edit) string {
	raw := d.raw[e.start:e.end]
	if raw[0] != '"' {
		return raw
	}
	text, err := unquote(raw)
	if err != nil {
		return ""
	}
	return text
}

func quoted(out []byte, text string) ([]byte, error) {
	out, err := jsontext.AppendQuote(out, text)
	if err != nil { // the text was decoded from valid JSON and placeholders are ASCII
		return nil, stop(ReasonPanic)
	}
	return out, nil
}

// nameKeys numbers the member names that became equal: two addresses as keys of one object must stay two members.
func (d *document) nameKeys(r *Redactor) {
	changed := map[int32]bool{}
	for i := range d.edits {
		if e := &d.edits[i]; e.kind == keyEdit && len(e.spans) > 0 {
			changed[e.object] = true
		}
	}
	if len(changed) == 0 {
		return
	}
	used := map[memberName]bool{}
	for i := range d.nodes {
		if n := &d.nodes[i]; n.kind == keyNode && changed[n.object] && n.edit == 0 {
			used[memberName{n.object, d.text(n)}] = true
		}
	}
	counter := map[memberName]int{}
	for i := range d.edits {
		e := &d.edits[i]
		if e.kind != keyEdit {
			continue
		}
		base := memberName{e.object, r.splice(e.text, e.spans)}
		name := base
		for used[name] {
			counter[base]++
			name.name = base.name + "#" + strconv.Itoa(counter[base]+1)
		}
		used[name] = true
		e.suffix = strings.TrimPrefix(name.name, base.name)
	}
}

// memberName is a name within one object of the document.
type memberName struct {
	object int32
	name   string
}
