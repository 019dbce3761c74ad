package redaction

import (
	"slices"
	"sort"
	"strings"
)

// span is a part of a string that a rule removes.
type span struct {
	start, end int // bytes, half open
	rule       string
	with       string // what stands in its place; set by splice
}

// placeholderHead opens every placeholder: "[redacted]", "[redacted:" rule "]" or "[redacted:" rule ":" detail "]".
const placeholderHead = "[redacted"

const (
	maxRuleName = 32  // bounds a placeholder's label
	maxDetail   = 300 // and what an operator adds to it
)

// placeholderEnd returns the end of the placeholder that starts at s[i], or -1. Only a rule's own name and what this
// policy's operators write count, so that a payload cannot hide a value in something that looks like a placeholder.
func (r *Redactor) placeholderEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], placeholderHead) {
		return -1
	}
	at := i + len(placeholderHead)
	rest := s[at:]
	if strings.HasPrefix(rest, "]") {
		return at + 1
	}
	end := strings.IndexByte(rest[:min(len(rest), maxRuleName+maxDetail)], ']')
	if end < 1 || rest[0] != ':' {
		return -1
	}
	label, detail, found := strings.Cut(rest[1:end], ":")
	if !r.labels[label] || (found && !r.ownDetail(label, detail)) {
		return -1
	}
	return at + end + 1
}

// placeholders returns where s already holds placeholders, in order.
func (r *Redactor) placeholders(s string) []span {
	var found []span
	for i := 0; ; {
		next := strings.Index(s[i:], placeholderHead)
		if next < 0 {
			return found
		}
		i += next
		if end := r.placeholderEnd(s, i); end > 0 {
			found = append(found, span{start: i, end: end})
			i = end
			continue
		}
		i += len(placeholderHead)
	}
}

// between returns what s holds beside its placeholders: a value that was redacted before is tainted without them.
func (r *Redactor) between(s string) []string {
	found := r.placeholders(s)
	if len(found) == 0 {
		return []string{s}
	}
	var parts []string
	at := 0
	for _, p := range append(found, span{start: len(s)}) {
		if at < p.start {
			parts = append(parts, s[at:p.start])
		}
		at = p.end
	}
	return parts
}

// merge sorts spans and joins those that overlap. The widest one names the result, the earlier rule when they are equal:
// replacing one after the other would leave residues where two rules overlap.
func merge(spans, protected []span) []span {
	spans = respect(spans, protected)
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	merged := spans[:0]
	widest := 0
	for _, s := range spans {
		s.with = ""
		last := len(merged) - 1
		if last < 0 || s.start >= merged[last].end {
			merged = append(merged, s)
			widest = s.end - s.start
			continue
		}
		merged[last].end = max(merged[last].end, s.end)
		if s.end-s.start > widest {
			widest, merged[last].rule = s.end-s.start, s.rule
		}
	}
	return merged
}

// respect drops the spans inside a placeholder and widens those that would cut one in two.
func respect(spans, placeholders []span) []span {
	if len(placeholders) == 0 {
		return spans
	}
	kept := spans[:0]
	for _, s := range spans {
		first := sort.Search(len(placeholders), func(i int) bool { return placeholders[i].end > s.start })
		last := sort.Search(len(placeholders), func(i int) bool { return placeholders[i].start >= s.end }) - 1
		if first > last {
			kept = append(kept, s)
			continue
		}
		if placeholders[first].start <= s.start && s.end <= placeholders[first].end {
			continue
		}
		s.start, s.end = min(s.start, placeholders[first].start), max(s.end, placeholders[last].end)
		kept = append(kept, s)
	}
	return kept
}

// splice replaces merged spans, once and from left to right.
func (r *Redactor) splice(s string, merged []span) string {
	if len(merged) == 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + 16*len(merged))
	at := 0
	for i := range merged {
		m := &merged[i]
		if m.with == "" {
			m.with = r.replacement(m.rule, s[m.start:m.end])
		}
		out.WriteString(s[at:m.start])
		out.WriteString(m.with)
		at = m.end
	}
	out.WriteString(s[at:])
	return out.String()
}

// unsplice maps sorted spans of a spliced string back to the string before. What touches a placeholder takes its whole
// span along.
func unsplice(found, merged []span) []span {
	starts, ends := rewind{cuts: merged}, rewind{cuts: merged}
	mapped := make([]span, 0, len(found)+len(merged))
	for _, f := range found {
		start, _ := starts.back(f.start)
		_, end := ends.back(f.end)
		mapped = append(mapped, span{start: start, end: end, rule: f.rule})
	}
	return mapped
}

// rewind walks the cuts of a splice once, for places that only grow.
type rewind struct {
	cuts  []span
	shift int // the original place minus the spliced one, behind the cuts that were passed
}

// back returns the original place of a spliced one: the edges of the cut when it lies within a placeholder.
func (w *rewind) back(at int) (low, high int) {
	for len(w.cuts) > 0 {
		cut := w.cuts[0]
		from := cut.start - w.shift
		to := from + len(cut.with)
		if at <= from {
			break
		}
		if at < to {
			return cut.start, cut.end
		}
		w.shift = cut.end - to
		w.cuts = w.cuts[1:]
	}
	return at + w.shift, at + w.shift
}
