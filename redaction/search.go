package redaction

import (
	"index/suffixarray"
	"slices"
	"strings"
	"time"
)

const (
	// manyNeedles is the product of needles and bytes above which one index is cheaper than a scan per needle.
	manyNeedles = 64 << 20
	// maxHits bounds the memory of one search.
	maxHits = 4 << 20
)

// needle is one spelling of a removed value.
type needle struct {
	text  string // in lower case, as what is searched: a value repeated in capitals is the same value
	rule  string
	trim  int // bytes at either end that are not part of the value: quotes
	digit bool
	word  bool
}

// newNeedle is a needle that is found anywhere, digits only where the number is not part of a longer one.
func newNeedle(text, rule string) needle {
	return needle{text: lower(text), rule: rule, digit: strings.Trim(text, "0123456789") == ""}
}

// standsAlone checks the neighbours of a hit where the needle asks for it.
func (n needle) standsAlone(text string, start, end int) bool {
	left, right := byte(' '), byte(' ')
	if start > 0 {
		left = text[start-1]
	}
	if end < len(text) {
		right = text[end]
	}
	if n.digit && (isDigit(left) || isDigit(right)) {
		return false
	}
	if !n.word {
		return true
	}
	escaped := start > 1 && text[start-2] == '\\' // the n of \n is no neighbour
	return (escaped || !isAlnum(left)) && !isAlnum(right)
}

// search calls hit for every place of every needle, in order per needle. text must be in lower case.
func (rec *record) search(text string, needles []needle, hit func(n needle, at int) error) error {
	var index *suffixarray.Index
	if len(needles) > manyNeedles/max(1, len(text)) {
		index = suffixarray.New([]byte(text))
	}
	hits := 0
	for _, n := range needles {
		if time.Now().After(rec.deadline) {
			return stop(ReasonTimeBudget)
		}
		for _, at := range places(text, n.text, index) {
			if hits++; hits > maxHits {
				return stop(ReasonTimeBudget)
			}
			if err := hit(n, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// places returns where what occurs in text, overlaps included.
func places(text, what string, index *suffixarray.Index) []int {
	if index != nil {
		found := index.Lookup([]byte(what), maxHits)
		slices.Sort(found)
		return found
	}
	var found []int
	for from := 0; len(found) < maxHits; {
		next := strings.Index(text[from:], what)
		if next < 0 {
			break
		}
		found = append(found, from+next)
		from += next + 1
	}
	return found
}

// addSpan appends a span, or widens the last one when they touch and say the same.
func addSpan(spans []span, s span) []span {
	if last := len(spans) - 1; last >= 0 && spans[last].rule == s.rule && spans[last].start <= s.start && s.start <= spans[last].end {
		spans[last].end = max(spans[last].end, s.end)
		return spans
	}
	return append(spans, s)
}
