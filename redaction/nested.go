package redaction

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// nested redacts JSON inside a string, up to maxNesting levels. Text that is no strict JSON is left to the detectors.
func (w *walk) nested(at context, text string) (bool, string, error) {
	if w.nesting >= maxNesting || !looksNested(text) {
		return false, "", nil
	}
	below := context{depth: at.depth, field: at.field, described: at.described, listed: at.listed || w.r.policy.Mode != AllowList}
	below.deny, below.allow = make(pathState, len(w.r.deny)), make(pathState, len(w.r.allow))
	mark := len(w.record.findings)
	doc, err := w.r.parse(text, below, w.nesting+1, w.record)
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
	return true, doc.render(w.record), nil
}

func looksNested(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return len(trimmed) > 1 && strings.IndexByte(`{["`, trimmed[0]) >= 0
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
		if !isLetter(s[i]) && strings.IndexByte("-_ .", s[i]) < 0 {
			return false
		}
	}
	return true
}
