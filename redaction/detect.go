package redaction

import (
	"strconv"
	"strings"
)

// detector finds one family of secrets or personal data by its shape. It sees a [view]'s text and adds spans of it, in
// any order; it looks at each byte a bounded number of times.
type detector struct {
	rules []string
	needs traits // nothing is looked for in a string that lacks one of them
	find  func(r *Redactor, text string, add func(start, end int, rule string))
}

// traits are what a first look at a string finds. They keep the cost of plain strings near that of reading them.
type traits uint

const (
	hasAt     traits = 1 << iota // @ or %
	hasPair                      // : = > or --
	hasScheme                    // ://
	hasDashes                    // -----
	hasDigits                    // at least 13 digits
	hasDigit
	hasParen // ( or '
)

// detectors in the order in which they name a part that two of them find. It is never written.
var detectors = []detector{
	{rules: []string{"pem"}, needs: hasDashes, find: findPEM},
	{rules: tokenRules(), find: findTokens},
	{rules: []string{"url-userinfo"}, needs: hasScheme | hasAt, find: findUserinfo},
	{rules: []string{"url-param"}, needs: hasPair, find: findPairs},
	{rules: []string{"bearer", "basic"}, find: findAuthSchemes},
	{rules: []string{"card-number"}, needs: hasDigits, find: findCards},
	{rules: []string{"iban"}, needs: hasDigits, find: findIBANs},
	{rules: []string{"email"}, needs: hasAt, find: findEmails},
	{rules: []string{"db-detail"}, needs: hasParen, find: findDetails},
}

// maxPasses bounds how often a string, or a document, is looked at again after something was cut out of it.
const maxPasses = 4

// detect runs every detector over a decoded string and returns what to cut, merged and in order.
func (r *Redactor) detect(s string) []span {
	return r.settle(s, r.detectOnce(s))
}

// settle looks again at what is left when spans are cut: a@b.example4111… is an address only once the card is gone. A
// string that does not come to rest goes whole.
func (r *Redactor) settle(s string, spans []span) []span {
	for range maxPasses {
		if len(spans) == 0 {
			return nil
		}
		more := r.detectOnce(splice(s, spans))
		if len(more) == 0 {
			return spans
		}
		spans = merge(append(unsplice(more, spans), spans...), r.placeholders(s))
	}
	return []span{{start: 0, end: len(s), rule: spans[0].rule}}
}

func (r *Redactor) detectOnce(s string) []span {
	if len(s) < minTaint {
		return nil
	}
	v := newView(s)
	var found []span
	add := func(start, end int, rule string) {
		if start < end {
			found = append(found, v.original(span{start: start, end: end, rule: rule}))
		}
	}
	seen := look(v.text)
	for _, d := range detectors {
		if seen&d.needs == d.needs {
			d.find(r, v.text, add)
		}
	}
	for _, p := range r.patterns {
		for _, at := range p.match.FindAllStringIndex(s, -1) {
			found = append(found, span{start: at[0], end: at[1], rule: p.rule})
		}
	}
	if len(found) == 0 {
		return nil
	}
	return merge(found, r.placeholders(s))
}

// look collects the traits of a string in one pass.
func look(s string) traits {
	var seen traits
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			digits++
		case c == '@', c == '%':
			seen |= hasAt
		case c == '=', c == '>':
			seen |= hasPair
		case c == ':':
			seen |= hasPair
			if strings.HasPrefix(s[i:], "://") {
				seen |= hasScheme
			}
		case c == '-':
			if strings.HasPrefix(s[i:], "--") {
				seen |= hasPair
			}
			if strings.HasPrefix(s[i:], "-----") {
				seen |= hasDashes
			}
		case c == '(', c == '\'':
			seen |= hasParen
		}
	}
	if digits >= 10 {
		seen |= hasDigits
	}
	return seen
}

// detectNumber looks at a JSON number, as spelled: only its whole part can be a card, and 4.1e15 is written out first.
func (r *Redactor) detectNumber(text string) []span {
	if len(text) < minTaint {
		return nil
	}
	var found []span
	whole, _, _ := strings.Cut(strings.TrimPrefix(writtenOut(text), "-"), ".")
	findCards(r, whole, func(_, _ int, rule string) {
		found = append(found, span{start: 0, end: len(text), rule: rule})
	})
	for _, p := range r.patterns {
		if p.match.MatchString(text) {
			found = append(found, span{start: 0, end: len(text), rule: p.rule})
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
