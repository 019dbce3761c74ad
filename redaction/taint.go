package redaction

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxTainted is how many different values a payload may taint; beyond that its texts are withheld instead of searched.
const maxTainted = 20_000

// Taint is the set of values that must not be readable in the texts around a payload. The zero value is the empty set.
// It is immutable, and a pointer inside keeps its values out of what fmt prints of a struct that holds it.
type Taint struct {
	set *taintSet
}

type taintSet struct {
	needles []needle
	blind   bool // the payload was too large or held too much: texts are withheld
}

// Taint collects what the rules remove from a payload, in every spelling an error text may use. A payload that is not
// understood is tainted word by word: nobody can say which of its words is the password.
func (r *Redactor) Taint(raw []byte) (taint Taint) {
	defer func() {
		if recover() != nil {
			taint = Taint{set: &taintSet{blind: true}}
		}
	}()
	if len(raw) > r.policy.MaxBytes {
		return Taint{set: &taintSet{blind: true}}
	}
	rec := r.newRecord()
	doc, err := r.parse(string(raw), r.root(), 0, rec)
	if err != nil {
		if reasonOf(err) == ReasonTimeBudget {
			return Taint{set: &taintSet{blind: true}}
		}
		rec.findings = words(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	kept := map[string]bool{}
	for _, l := range doc.leaves {
		if len(l.spans) == 0 {
			kept[l.text] = true
		}
	}
	tainted := taintSet{}
	seen := map[string]bool{}
	for _, f := range rec.findings {
		if seen[f.text] || (f.rule == ruleUnlisted && kept[f.text]) {
			continue
		}
		seen[f.text] = true
		for _, part := range r.between(f.text) {
			tainted.needles = append(tainted.needles, r.spellings(part, f)...)
		}
	}
	if len(seen) > maxTainted {
		tainted = taintSet{blind: true}
	}
	return Taint{set: &tainted}
}

// words cuts a payload that is no JSON into what an error may quote of it: whatever stands between quotes, and between
// any punctuation of JSON.
func words(raw string) []finding {
	var found []finding
	for quoted := range strings.SplitSeq(raw, `"`) {
		found = append(found, finding{rule: rulePayload, text: strings.TrimSpace(quoted)})
		for _, word := range strings.FieldsFunc(quoted, func(c rune) bool { return strings.ContainsRune("{}[]:,\\ \t\r\n", c) }) {
			found = append(found, finding{rule: rulePayload, text: word})
		}
		if len(found) > 2*maxTainted {
			break
		}
	}
	return found
}

// spellings returns the needles of a value, or of a part of one.
func (r *Redactor) spellings(value string, f finding) []needle {
	if strings.TrimSpace(value) == "" {
		return nil
	}
	if len(value) < minTaint || r.isCommon(value) {
		return quotedSpellings(value, f.rule)
	}
	seen := map[string]bool{}
	var needles []needle
	for _, text := range textSpellings(value, f.number) {
		n := newNeedle(text, f.rule)
		if len(text) >= minTaint && !seen[n.text] {
			seen[n.text] = true
			needles = append(needles, n)
		}
	}
	return needles
}

// quotedSpellings are for values that would shred a text: they count only between quotes.
func quotedSpellings(value, rule string) []needle {
	var needles []needle
	for _, quote := range []string{`"`, `'`, "`", `\"`} {
		needles = append(needles, needle{text: lower(quote + value + quote), rule: rule, trim: len(quote)})
	}
	return needles
}

// textSpellings lists how Go, JSON, URLs and basic authentication write a value.
func textSpellings(value string, number bool) []string {
	inJSON := escaped(value)
	html, err := json.Marshal(value) // encoding/json writes < as \u003c
	if err != nil {
		html = []byte(`""`)
	}
	inHTML := unquoted(string(html))
	spellings := []string{
		value, inJSON, inHTML, escaped(inJSON), escaped(inHTML),
		unquoted(strconv.Quote(value)), unquoted(strconv.QuoteToASCII(value)),
		url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value)),
	}
	spellings = append(spellings, base64Spellings(value)...)
	if number {
		spellings = append(spellings, numberSpellings(value)...)
	}
	return spellings
}

func unquoted(s string) string { return s[1 : len(s)-1] }

// base64Spellings are the characters that a value always yields inside a longer encoded text, for each of the three
// places it can start at.
func base64Spellings(value string) []string {
	var spellings []string
	for shift := range 3 {
		padded := append(make([]byte, shift), value...)
		from, to := (shift*8+5)/6, len(padded)*8/6
		if to-from < minTaint {
			continue
		}
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			spellings = append(spellings, encoding.EncodeToString(padded)[from:to])
		}
	}
	return spellings
}

// numberSpellings are how Go prints a number that was decoded into a float64.
func numberSpellings(value string) []string {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return nil
	}
	return []string{strconv.FormatFloat(f, 'g', -1, 64), strconv.FormatFloat(f, 'f', -1, 64), strconv.FormatFloat(f, 'f', 6, 64), strconv.FormatFloat(f, 'e', 6, 64)}
}

// Text takes the values of t and every detected secret out of an error text, a stack or a panic value. Invalid UTF-8 is
// replaced, a text above Policy.MaxTextBytes is withheld, and it never panics.
func (r *Redactor) Text(text string, t Taint) (redacted string) {
	defer func() {
		if recover() != nil {
			redacted = placeholder(ruleWithheld)
		}
	}()
	if len(text) > r.policy.MaxTextBytes || (t.set != nil && t.set.blind) {
		return placeholder(ruleWithheld)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	found := r.detectOnce(text)
	if t.set != nil {
		rec := r.newRecord()
		err := rec.search(lower(text), t.set.needles, func(n needle, at int) error {
			if start, end := at+n.trim, at+len(n.text)-n.trim; n.standsAlone(text, start, end) {
				found = addSpan(found, span{start: start, end: end, rule: n.rule})
			}
			return nil
		})
		if err != nil {
			return placeholder(ruleWithheld)
		}
	}
	return splice(text, r.settle(text, merge(found, r.placeholders(text))))
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
