package redaction

import (
	"strings"
	"unicode/utf8"
)

// Text takes the values of t and every detected secret out of an error text, a stack or a panic value. Invalid UTF-8 is
// replaced, a text that may not be looked into whole is withheld, and it never panics.
func (r *Redactor) Text(text string, t Taint) string {
	redacted, _ := r.Scrub(text, t)
	return redacted
}

// Scrub is [Redactor.Text] with its report.
func (r *Redactor) Scrub(text string, t Taint) (redacted string, report Report) {
	withheld := func(reason Reason) (string, Report) {
		return placeholder(ruleWithheld), r.withheld(reason).Report
	}
	defer func() {
		if recover() != nil {
			redacted, report = withheld(ReasonPanic)
		}
	}()
	if len(text) > r.policy.MaxTextBytes {
		return withheld(ReasonTooLarge)
	}
	if t.set != nil && t.set.blind {
		return withheld(ReasonTooMany)
	}
	rec := r.newRecord()
	size := len(text)
	text = strings.ToValidUTF8(text, "\uFFFD")
	for range maxPasses {
		spans, err := r.scrub(text, t, rec)
		if err != nil {
			return withheld(reasonOf(err))
		}
		for _, s := range spans {
			rec.counts.add(r, s.rule, SurfaceText)
		}
		next := r.splice(text, spans)
		if next == text {
			report = rec.counts.report(r)
			report.Bytes, report.Layers = size, rec.decode.layers
			return text, report
		}
		text = next
	}
	return withheld(ReasonVerification)
}

// scrub returns what goes from a text.
func (r *Redactor) scrub(text string, t Taint, rec *record) ([]span, error) {
	found := r.detectOnce(text, "", &rec.decode, 0)
	if t.set != nil && t.set.needles != nil {
		err := t.set.needles.search(text, func(n *needle, start, end int) {
			found = addSpan(found, span{start: start + n.trim, end: end - n.trim, rule: n.rule})
		})
		if err != nil {
			return nil, err
		}
	}
	if err := rec.spend(); err != nil {
		return nil, err
	}
	spans := r.settle(text, "", merge(found, r.placeholders(text)), &rec.decode)
	if rec.decode.spent {
		return nil, stop(ReasonDecodeBudget)
	}
	return spans, nil
}

// cutMark ends a text that was cut.
const cutMark = "…[truncated]"

// Truncate cuts s to at most limit bytes, mark included, at a rune boundary. Redact first, then truncate: a cut through
// a secret leaves a part that no rule recognises. A limit too small for the mark cuts without one.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	mark := cutMark
	if limit < len(mark) {
		mark = ""
	}
	cut := max(0, limit-len(mark))
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}
