package redaction

import (
	"strings"
)

const (
	// minTaint is the shortest value, in bytes, that is removed wherever it is repeated.
	minTaint = 4
	// longNeedle is the length from which a needle is found by its first eight bytes instead of four.
	longNeedle = 8
	headBits   = 14
)

// needle is one spelling of a removed value.
type needle struct {
	text  string // in lower case: a value repeated in capitals is the same value
	rule  string
	trim  int  // bytes at either end that are not part of the value: quotes
	digit bool // all digits: not found inside a longer number
	word  bool // found between word boundaries only
}

// newNeedle is a needle that is found anywhere, digits only where the number is not part of a longer one.
func newNeedle(text, rule string) needle {
	return needle{text: lower(text), rule: rule, digit: strings.Trim(text, "0123456789") == ""}
}

// standsAlone checks the neighbours of a hit where the needle asks for it.
func (n *needle) standsAlone(text string, start, end int) bool {
	if !n.digit && !n.word {
		return true
	}
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

// needleSet finds many needles in one pass over a text: the bytes at each place are hashed, and only what hits a needle's
// head is compared. Comparisons are counted, so that needles made to collide cannot make it slow. It is never written.
type needleSet struct {
	needles []needle
	short   []int // shorter than minTaint, in their quotes
	heads   map[uint32][]int
	longs   map[uint64][]int
	filter  [1 << headBits / 64]uint64 // of the first four bytes of every needle
}

// workPerByte is how many comparisons a search may spend for each byte it reads.
const workPerByte = 64

func newNeedleSet(needles []needle) *needleSet {
	set := &needleSet{needles: needles, heads: map[uint32][]int{}, longs: map[uint64][]int{}}
	for i := range needles {
		text := needles[i].text
		switch {
		case len(text) < minTaint:
			set.short = append(set.short, i)
			continue
		case len(text) < longNeedle:
			set.heads[head4(text, 0)] = append(set.heads[head4(text, 0)], i)
		default:
			set.longs[head8(text, 0)] = append(set.longs[head8(text, 0)], i)
		}
		h := hash4(head4(text, 0))
		set.filter[h>>6] |= 1 << (h & 63)
	}
	return set
}

// head4 and head8 set the bit that tells capitals from small letters. Other bytes that meet by it are told apart when the
// needle is compared.
func head4(s string, i int) uint32 {
	s = s[i : i+4]
	return (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24) | 0x20202020
}

func head8(s string, i int) uint64 {
	return uint64(head4(s, i)) | uint64(head4(s, i+4))<<32
}

func hash4(v uint32) uint32 { return v * 2654435769 >> (32 - headBits) }

// search calls hit for every place where a needle stands in text, by rising place. It returns a stop when the needles
// cost more than they may.
func (set *needleSet) search(text string, hit func(n *needle, start, end int)) error {
	work := len(text)*workPerByte + 1<<16
	for _, i := range set.short {
		set.find(i, text, hit)
	}
	for at := 0; at+4 <= len(text); at++ {
		head := head4(text, at)
		h := hash4(head)
		if set.filter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		work -= set.compare(set.heads[head], text, at, hit)
		if at+8 <= len(text) {
			work -= set.compare(set.longs[head8(text, at)], text, at, hit)
		}
		if work < 0 {
			return stop(ReasonWorkBudget)
		}
	}
	return nil
}

// compare returns what it cost.
func (set *needleSet) compare(candidates []int, text string, at int, hit func(n *needle, start, end int)) int {
	work := 0
	for _, i := range candidates {
		n := &set.needles[i]
		work += 1 + len(n.text)/16
		if end := at + len(n.text); hasFoldPrefix(text[at:], n.text) && n.standsAlone(text, at+n.trim, end-n.trim) {
			hit(n, at, end)
			work += 1 + len(n.text)/16
		}
	}
	return work
}

// find looks for one needle that is too short to be hashed.
func (set *needleSet) find(i int, text string, hit func(n *needle, start, end int)) {
	n := &set.needles[i]
	for from := 0; ; {
		next := strings.Index(text[from:], n.text)
		if next < 0 {
			return
		}
		if at := from + next; n.standsAlone(text, at+n.trim, at+len(n.text)-n.trim) {
			hit(n, at, at+len(n.text))
		}
		from += next + 1
	}
}

// addSpan appends a span, or widens the last one when they touch and say the same.
func addSpan(spans []span, s span) []span {
	if last := len(spans) - 1; last >= 0 && spans[last].rule == s.rule && spans[last].start <= s.start && s.start <= spans[last].end {
		spans[last].end = max(spans[last].end, s.end)
		return spans
	}
	return append(spans, s)
}
