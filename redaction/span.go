package redaction

import (
	"slices"
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

// merge sorts spans, drops those inside a placeholder and joins those that overlap. The widest one names the result, the
// earlier rule when they are equal: replacing one after the other would leave residues where two rules overlap.
func merge(spans, protected []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	var merged []span
	widest, next := 0, 0
	for _, s := range spans {
		for next < len(protected) && protected[next].end < s.end {
			next++
		}
		if next < len(protected) && protected[next].start <= s.start && s.end <= protected[next].end {
			continue
		}
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
