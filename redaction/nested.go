package redaction

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// maxNesting is how many levels of JSON inside JSON strings are redacted inside; what is deeper is text.
const maxNesting = 3

// nested redacts JSON inside a string, up to maxNesting levels. Text that is no strict JSON is left to the detectors.
func (w *walk) nested(at *context, text string) (bool, string, error) {
	if w.nesting >= maxNesting || !looksNested(text) {
		return false, "", nil
	}
	below := context{
		depth: at.depth, field: at.field, described: at.described, hint: at.hint, listed: at.listed || w.r.policy.Mode != AllowList,
		deny: make(pathState, len(w.r.deny)), allow: make(pathState, len(w.r.allow)),
	}
	mark := len(w.record.findings)
	doc, err := w.r.parse(text, nil, below, w.nesting+1, w.record)
	var s stop
	if errors.As(err, &s) && (s == stop(ReasonInvalidJSON) || s == stop(ReasonDuplicateKey)) {
		w.record.findings = w.record.findings[:mark]
		return false, "", nil
	}
	if err != nil {
		return false, "", err
	}
	if at.field != "" {
		return true, text, nil
	}
	outer := w.record.nesting
	w.record.nesting = SurfaceNested
	rendered, err := doc.render(w.r, w.record)
	w.record.nesting = outer
	if rendered == nil {
		return true, text, err
	}
	return true, string(rendered), err
}

func looksNested(text string) bool {
	i := 0
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	if strings.HasPrefix(text[i:], placeholderHead) {
		return false
	}
	return i+1 < len(text) && (text[i] == '{' || text[i] == '[' || text[i] == '"')
}

// plainWord is true for what may describe a secret: one short word of letters, or digits in the form of a time,
// a number or a duration.
func plainWord(s string) bool {
	if _, err := time.Parse(time.RFC3339, s); err == nil {
		return true
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil || len(s) > 24 {
		return err == nil && len(s) <= 12
	}
	if _, err := time.ParseDuration(s); err == nil {
		return true
	}
	for i := range len(s) {
		if !isLetter(s[i]) && !indexByte("-_ .", s[i]) {
			return false
		}
	}
	return true
}
