package redaction

import (
	"github.com/go-json-experiment/json/jsontext"
)

// needles returns the removed values that must not be repeated anywhere in the output. Short ones count as words only:
// a PIN is not part of an order number. A value that is a rule's name tells nothing and would eat the placeholders.
func (r *Redactor) needles(rec *record) *needleSet {
	if rec.searched == len(rec.findings) {
		return rec.needles
	}
	rec.searched = len(rec.findings)
	seen := make(map[string]bool, len(rec.findings))
	needles := make([]needle, 0, len(rec.findings))
	add := func(text, rule string) {
		n := newNeedle(text, rule)
		n.word = len(text) < 2*minTaint
		if !seen[n.text] {
			seen[n.text] = true
			needles = append(needles, n)
		}
	}
	for _, f := range rec.findings {
		if !f.global || seen[f.text] {
			continue
		}
		for _, part := range r.between(f.text) {
			if len(part) < minTaint || r.isCommon(part) {
				continue
			}
			add(part, f.rule)
			if inJSON := escaped(part); inJSON != part {
				add(inJSON, f.rule)
			}
		}
	}
	if rec.needles = nil; len(needles) > 0 {
		rec.needles = newNeedleSet(needles)
	}
	return rec.needles
}

// isCommon is true for values that are our own words or JSON's own.
func (r *Redactor) isCommon(text string) bool {
	if len(text) > maxRuleName {
		return false
	}
	switch folded := lower(text); folded {
	case "true", "false", "null", "redacted", "redrive", "none":
		return true
	default:
		return r.labels[folded]
	}
}

// escaped is how a string stands inside a JSON string, without the quotes.
func escaped(text string) string {
	if plainJSON(text) {
		return text
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return text
	}
	return string(quoted[1 : len(quoted)-1])
}

// plainJSON is true for text that JSON spells as it is.
func plainJSON(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// removeCopies removes what was removed once wherever else the document repeats it: the address in a field "email"
// from the greeting, the token in a header from the URL.
func (r *Redactor) removeCopies(doc *document, rec *record) error {
	if rec.pass > 0 && rec.searched == len(rec.findings) && !rec.again {
		return nil // verification searches what this would
	}
	set := r.needles(rec)
	if set == nil {
		return nil
	}
	for i := range doc.nodes {
		text := doc.text(&doc.nodes[i])
		if len(text) < minTaint {
			continue
		}
		var found []span
		err := set.search(text, func(n *needle, start, end int) {
			found = addSpan(found, span{start: start, end: end, rule: n.rule})
		})
		if err != nil {
			return err
		}
		if len(found) > 0 {
			r.cutCopies(doc, i, text, found, rec)
		}
	}
	return nil
}

func (r *Redactor) cutCopies(doc *document, i int, text string, found []span, rec *record) {
	protected := r.placeholders(text)
	found = merge(found, protected)
	if len(found) == 0 {
		return
	}
	e := doc.editOf(i)
	kind := doc.nodes[i].kind
	if kind == numberNode {
		e.spans = []span{{start: 0, end: len(text), rule: found[0].rule}}
		return
	}
	e.spans = merge(append(found, e.spans...), protected)
	if !e.nested && rec.pass > 1 {
		e.spans = r.settle(text, "", e.spans, &rec.decode)
	}
}
