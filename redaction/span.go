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
}

// placeholderHead opens every placeholder: "[redacted:" rule "]".
const placeholderHead = "[redacted:"

func placeholder(rule string) string { return placeholderHead + rule + "]" }

// placeholderEnd returns the end of the placeholder that starts at s[i], or -1. Only a rule's own name counts, so that a
// payload cannot hide a value in something that looks like a placeholder.
func (r *Redactor) placeholderEnd(s string, i int) int {
	if !strings.HasPrefix(s[i:], placeholderHead) {
		return -1
	}
	rest := s[i+len(placeholderHead):]
	end := strings.IndexByte(rest[:min(len(rest), maxRuleName+1)], ']')
	if end < 0 || !r.labels[rest[:end]] {
		return -1
	}
	return i + len(placeholderHead) + end + 1
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
	var merged []span
	widest := 0
	for _, s := range spans {
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
	kept := make([]span, 0, len(spans))
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

// splice replaces merged spans by their placeholders, once and from left to right.
func splice(s string, merged []span) string {
	var out strings.Builder
	at := 0
	for _, m := range merged {
		out.WriteString(s[at:m.start])
		out.WriteString(placeholder(m.rule))
		at = m.end
	}
	out.WriteString(s[at:])
	return out.String()
}

// unsplice maps sorted spans of a spliced string back to the string before. What touches a placeholder takes its whole
// span along.
func unsplice(found, merged []span) []span {
	starts, ends := newRewind(merged), newRewind(merged)
	mapped := make([]span, 0, len(found))
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

func newRewind(cuts []span) *rewind { return &rewind{cuts: cuts} }

// back returns the original place of a spliced one: the edges of the cut when it lies within a placeholder.
func (w *rewind) back(at int) (low, high int) {
	for len(w.cuts) > 0 {
		cut := w.cuts[0]
		from := cut.start - w.shift
		to := from + len(placeholder(cut.rule))
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
