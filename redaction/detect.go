package redaction

import (
	"strconv"
	"strings"
)

// scan is one look of all detectors at one string. Detectors see a [view]'s text and add spans of it, in any order; each
// looks at a byte a bounded number of times.
type scan struct {
	r      *Redactor
	text   string
	seen   traits
	digits int
	hint   string // the name of the member that holds the string
	found  []span
	budget *decodeBudget
	depth  int // of decoded layers
}

func (s *scan) add(start, end int, rule string) {
	if start < end && s.r.active[rule] {
		s.found = append(s.found, span{start: start, end: end, rule: rule})
	}
}

// maxPasses bounds how often a string, or a document, is looked at again after something was cut out of it.
const maxPasses = 6

// detect runs every detector over a decoded string and returns what to cut, merged and in order.
func (r *Redactor) detect(s, hint string, budget *decodeBudget) []span {
	return r.settle(s, hint, r.detectOnce(s, hint, budget, 0), budget)
}

// settle looks again at what is left when spans are cut: a@b.example4111… is an address only once the card is gone. A
// string that does not come to rest goes whole.
func (r *Redactor) settle(s, hint string, spans []span, budget *decodeBudget) []span {
	for range maxPasses {
		if len(spans) == 0 {
			return nil
		}
		more := r.detectOnce(r.splice(s, spans), hint, budget, 0)
		if len(more) == 0 {
			return spans
		}
		spans = merge(append(unsplice(more, spans), spans...), r.placeholders(s))
	}
	return []span{{start: 0, end: len(s), rule: spans[0].rule}}
}

// detectOnce returns nil for nearly every string after one look at its bytes.
func (r *Redactor) detectOnce(s, hint string, budget *decodeBudget, depth int) []span {
	if len(s) < minTaint {
		return nil
	}
	seen, digits := look(s)
	if !r.always && seen&^(hasEncoded|hasSpace) == 0 && len(s) < minSecret {
		return nil
	}
	if seen&hasDigit != 0 && r.isPlainShape(s, seen) {
		return nil
	}
	v := view{text: s}
	if seen&hasHigh != 0 {
		if v = newView(s); v.at != nil {
			seen, digits = look(v.text)
		}
	}
	sc := scan{r: r, text: v.text, seen: seen, digits: digits, hint: hint, budget: budget, depth: depth}
	sc.run()
	found := sc.found
	for i := range found {
		found[i] = v.original(found[i])
	}
	if seen&(hasPercent|hasAmp|hasBackslash) != 0 {
		found = r.detectUnescaped(v, hint, budget, depth, found)
	}
	found = r.detectOwn(s, found)
	if len(found) == 0 {
		return nil
	}
	return merge(found, r.placeholders(s))
}

// detectUnescaped looks at the text behind percent escapes, \u escapes and HTML entities as well.
func (r *Redactor) detectUnescaped(v view, hint string, budget *decodeBudget, depth int, found []span) []span {
	plain, ok := v.unescaped()
	if !ok || !budget.spend(len(v.text)) {
		return found
	}
	seen, digits := look(plain.text)
	sc := scan{r: r, text: plain.text, seen: seen, digits: digits, hint: hint, budget: budget, depth: depth}
	sc.run()
	for _, s := range sc.found {
		found = append(found, plain.original(s))
	}
	return found
}

// detectOwn runs the policy's own patterns and literals, on the text as it is.
func (r *Redactor) detectOwn(s string, found []span) []span {
	for _, p := range r.patterns {
		for _, at := range p.match.FindAllStringIndex(s, -1) {
			found = append(found, span{start: at[0], end: at[1], rule: p.rule})
		}
	}
	if len(r.literals) > 0 {
		folded := lower(s)
		for _, literal := range r.literals {
			for from := 0; ; {
				at := strings.Index(folded[from:], literal)
				if at < 0 {
					break
				}
				found = addSpan(found, span{start: from + at, end: from + at + len(literal), rule: ruleLiteral})
				from += at + 1
			}
		}
	}
	return found
}

// minSecret is the shortest string in which a detector finds something without any sign or digit in it.
const minSecret = 12

// run starts the detectors whose traits the string has, in the order in which they name a part that two of them find.
func (s *scan) run() {
	seen := s.seen
	if seen&hasDash != 0 && strings.Contains(s.text, "-----") {
		s.findPEM()
	}
	if len(s.text) >= minSecret {
		s.findTokens()
	}
	if seen&hasColon != 0 && seen&hasSlash != 0 && (seen&hasAt != 0 || len(s.r.urlPaths) > 0) {
		s.findURLs()
	}
	if seen&(hasColon|hasEquals) != 0 || (seen&hasDash != 0 && seen&hasSpace != 0) {
		s.findPairs()
	}
	if seen&hasSpace != 0 && len(s.text) >= minSecret {
		s.findAuthSchemes()
	}
	if s.digits > 0 {
		s.runDigits()
	}
	if seen&(hasAt|hasPercent) != 0 {
		s.findEmails()
	}
	if seen&hasQuote != 0 && seen&hasSpace != 0 && quotesDetail(s.text) {
		s.findDetails()
	}
	if seen&hasColon != 0 && (s.digits > 0 || seen&hasHexLetter != 0) && strings.Count(s.text, ":") >= 2 {
		s.findIPv6()
	}
	if seen&hasRun != 0 {
		s.findEncoded()
	}
}

func (s *scan) runDigits() {
	seen := s.seen
	if s.digits >= 12 {
		s.findCards()
	}
	if s.digits >= 10 {
		s.findIBANs()
	}
	if s.digits >= 9 && s.seen&(hasDash|hasSpace) != 0 {
		s.findSSNs()
	}
	if s.digits >= 8 && s.seen&hasPlus != 0 {
		s.findPhones()
	}
	if s.digits >= 4 && s.seen&hasDot != 0 {
		s.findIPv4()
	}
	if s.digits >= 3 && (s.hint != "" || seen&hasSpace != 0 || (seen&(hasColon|hasEquals) != 0 && seen&hasSlash == 0)) {
		s.findByContext()
	}
	if s.digits >= 4 && s.r.dates {
		s.findDates()
	}
}

// detectNumber looks at a JSON number, as spelled: only its whole part can be a card, and 4.1e15 is written out first.
func (r *Redactor) detectNumber(text, hint string) []span {
	if len(text) < minTaint || (len(text) < 9 && !r.always) {
		return nil
	}
	var found []span
	whole := text
	if len(text) >= 9 {
		whole, _, _ = strings.Cut(strings.TrimPrefix(writtenOut(text), "-"), ".")
		sc := scan{r: r, text: whole, digits: len(whole), hint: hint}
		if len(whole) >= 12 {
			sc.findCards()
		}
		if hint != "" {
			sc.findByContext()
		}
		for _, s := range sc.found {
			found = append(found, span{start: 0, end: len(text), rule: s.rule})
		}
	}
	for _, p := range r.patterns {
		if p.match.MatchString(text) {
			found = append(found, span{start: 0, end: len(text), rule: p.rule})
		}
	}
	for _, literal := range r.literals {
		if strings.Contains(text, literal) {
			found = append(found, span{start: 0, end: len(text), rule: ruleLiteral})
		}
	}
	return merge(found, nil)
}

// writtenOut spells a number without an exponent.
func writtenOut(text string) string {
	if !strings.ContainsAny(text, "eE") {
		return text
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// decodeBudget bounds the encoded text that one payload or text may have decoded, over all its layers.
type decodeBudget struct {
	left   int
	spent  bool // and more was asked for
	layers int
}

// spend reports whether size more bytes may be decoded. A refusal is remembered: the record is withheld for it, since
// nobody has looked into what was left out.
func (b *decodeBudget) spend(size int) bool {
	if b.left < size {
		b.spent = true
		return false
	}
	b.left -= size
	b.layers++
	return true
}
