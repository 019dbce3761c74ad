package redaction

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxTainted is how many different values a payload may taint; beyond that its texts are withheld instead of searched.
const maxTainted = 20_000

// Taint is the set of values that must not be readable in the texts around a payload. The zero value is the empty set.
// It is immutable, and a pointer inside keeps its values out of what fmt prints of a struct that holds it.
type Taint struct {
	set *taintSet
}

type taintSet struct {
	needles *needleSet
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
	defer rec.release()
	doc, err := r.parse(string(raw), raw, r.root(), 0, rec)
	if err != nil {
		switch reasonOf(err) {
		case ReasonTimeBudget, ReasonWorkBudget, ReasonDecodeBudget, ReasonTooMany:
			return Taint{set: &taintSet{blind: true}}
		}
		rec.findings = wordsOf(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	return r.collect(rec.findings, doc.kept())
}

// kept returns the texts of a document that stay.
func (d *document) kept() map[string]bool {
	kept := map[string]bool{}
	for i := range d.nodes {
		if n := &d.nodes[i]; n.edit == 0 {
			kept[d.text(n)] = true
		}
	}
	return kept
}

// collect spells the findings out. What allow-list mode removes in one place and keeps in another is no secret.
func (r *Redactor) collect(findings []finding, kept map[string]bool) Taint {
	var needles []needle
	seen := map[string]bool{}
	for _, f := range findings {
		if seen[f.text] || (f.rule == ruleUnlisted && kept[f.text]) {
			continue
		}
		if seen[f.text] = true; len(seen) > maxTainted {
			return Taint{set: &taintSet{blind: true}}
		}
		for _, part := range r.between(f.text) {
			needles = append(needles, r.spellings(part, f)...)
		}
	}
	return Taint{set: &taintSet{needles: newNeedleSet(needles)}}
}

// wordsOf cuts a payload that is no JSON into what an error may quote of it: whatever stands between quotes, and between
// any punctuation of JSON.
func wordsOf(raw string) []finding {
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
	safe, err := json.Marshal(value) // encoding/json writes < as \u003c
	if err != nil {
		safe = []byte(`""`)
	}
	inHTML := unquoted(string(safe))
	spellings := []string{
		value, inJSON, inHTML, escaped(inJSON), escaped(inHTML),
		unquoted(strconv.Quote(value)), unquoted(strconv.QuoteToASCII(value)),
		url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value)),
	}
	spellings = append(spellings, base64Spellings(value)...)
	spellings = append(spellings, base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(value)),
		strings.ReplaceAll(value, "'", `'\''`), html.EscapeString(value), norm.NFKC.String(value))
	if digits := digitsIn(value); len(digits) >= 2*minTaint && len(value) <= 2*len(digits) {
		spellings = append(spellings, digits)
	}
	if number {
		spellings = append(spellings, numberSpellings(value)...)
	}
	return spellings
}

func digitsIn(value string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, value)
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
