package redaction

import (
	"bytes"
	"errors"
	"io"
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// needles returns the removed values that must not be repeated anywhere in the output. Short ones count as words only:
// a PIN is not part of an order number. A value that is a rule's name tells nothing and would eat the placeholders.
func (r *Redactor) needles(rec *record) []needle {
	seen := map[string]bool{}
	var needles []needle
	for _, f := range rec.findings {
		if !f.global {
			continue
		}
		for _, part := range r.between(f.text) {
			if len(part) < minTaint || r.isCommon(part) {
				continue
			}
			for _, spelling := range []string{part, escaped(part)} {
				n := newNeedle(spelling, f.rule)
				n.word = len(spelling) < 2*minTaint
				if !seen[n.text] {
					seen[n.text] = true
					needles = append(needles, n)
				}
			}
		}
	}
	return needles
}

// isCommon is true for values that are our own words or JSON's own.
func (r *Redactor) isCommon(text string) bool {
	switch folded := lower(text); folded {
	case "true", "false", "null", "redacted", "redrive":
		return true
	default:
		return r.labels[folded]
	}
}

// escaped is how a string stands inside a JSON string, without the quotes.
func escaped(text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return text
	}
	return string(quoted[1 : len(quoted)-1])
}

// removeCopies removes what was removed once wherever else the document repeats it: the address in a field "email"
// from the greeting, the token in a header from the URL.
func (r *Redactor) removeCopies(doc *document, rec *record) error {
	needles := r.needles(rec)
	if len(needles) == 0 {
		return nil
	}
	texts := newJoined(len(doc.leaves))
	for i := range doc.leaves {
		texts.add(doc.leaves[i].text)
	}
	touched := map[int]bool{}
	err := rec.search(texts.lower(), needles, func(n needle, at int) error {
		i, start := texts.leaf(at)
		l := &doc.leaves[i]
		if end := start + len(n.text); end <= len(l.text) && n.standsAlone(l.text, start, end) {
			l.spans = addSpan(l.spans, span{start: start, end: end, rule: n.rule})
			touched[i] = true
		}
		return nil
	})
	for i := range touched {
		l := &doc.leaves[i]
		l.spans = merge(l.spans, r.placeholders(l.text))
		if !l.nested && l.kind != numberLeaf {
			l.spans = r.settle(l.text, l.spans)
		}
	}
	return err
}

// verify reads the finished output with a fresh decoder and searches it again. It trusts nothing that was computed
// while redacting but the list of what had to go.
func (r *Redactor) verify(out string, rec *record) error {
	needles := r.needles(rec)
	texts := newJoined(rec.steps * 2)
	decoder := jsontext.NewDecoder(bytes.NewBufferString(out))
	for {
		token, err := decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return stop(ReasonVerification)
		}
		if kind := token.Kind(); kind == '"' || kind == '0' {
			texts.add(token.String())
		}
	}
	return rec.search(texts.lower(), needles, func(n needle, at int) error {
		i, start := texts.leaf(at)
		text, end := texts.parts[i], start+len(n.text)
		if end > len(text) || !n.standsAlone(text, start, end) || r.insidePlaceholder(text, start, end) {
			return nil
		}
		return stop(ReasonVerification)
	})
}

// insidePlaceholder is true for a hit within the words of a placeholder.
func (r *Redactor) insidePlaceholder(text string, start, end int) bool {
	open := strings.LastIndex(text[:min(len(text), start+len(placeholderHead))], placeholderHead)
	return open >= 0 && open <= start && r.placeholderEnd(text, open) >= end
}

// joined is many strings as one text to search, with a separator that no needle spans.
type joined struct {
	parts  []string
	starts []int
	size   int
}

func newJoined(capacity int) joined {
	return joined{parts: make([]string, 0, capacity), starts: make([]int, 0, capacity)}
}

func (j *joined) add(text string) {
	j.parts = append(j.parts, text)
	j.starts = append(j.starts, j.size)
	j.size += len(text) + 1
}

func (j *joined) lower() string {
	return lower(strings.Join(j.parts, "\x00"))
}

// leaf returns which string a place of the joined text is in, and where in it.
func (j *joined) leaf(at int) (index, offset int) {
	index = sort.SearchInts(j.starts, at+1) - 1
	return index, at - j.starts[index]
}
