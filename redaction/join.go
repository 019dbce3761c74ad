package redaction

import (
	"strings"
)

const (
	// maxJoined bounds the text that the elements of one array are joined into, in bytes.
	maxJoined = 64 << 10
	// maxCardParts is how many elements a card number is looked for in.
	maxCardParts = 6
)

// join looks for a secret that is split over the elements of an array: lines of a key, pieces of a token, groups of a card
// number. nodes[first:] are the elements. What runs over the border of two elements removes both.
func (w *walk) join(first int) {
	elements := w.doc.nodes[first:]
	size := 0
	for i := range elements {
		size += int(elements[i].end - elements[i].start)
	}
	if size < minSecret {
		return
	}
	starts := make([]int, 0, len(elements)+1)
	var joined strings.Builder
	digits := len(elements) <= maxCardParts
	for i := range elements {
		text := w.doc.text(&elements[i])
		if elements[i].edit > 0 || joined.Len()+len(text) > maxJoined {
			w.tail(first, i)
			text = "\n" // nothing runs over what was removed already
		}
		starts = append(starts, joined.Len())
		digits = digits && len(text) >= 2 && len(text) <= 6 && allDigits(text)
		joined.WriteString(text)
		if strings.HasPrefix(text, "-----") || w.inPEM(text) {
			joined.WriteByte('\n')
		}
	}
	starts = append(starts, joined.Len())
	text := joined.String()
	if len(text) < minSecret {
		return
	}
	sc := scan{r: w.r, text: text}
	sc.findTokens()
	if strings.Contains(text, "-----") {
		sc.findPEM()
	}
	if digits && len(text) >= 13 && len(text) <= 19 && isCard(text) {
		sc.add(0, len(text), "card-number")
	}
	for _, s := range sc.found {
		w.remove(first, starts, s)
	}
}

// inPEM is true for a line of a key's length, which is joined to the next with a line break.
func (w *walk) inPEM(text string) bool { return len(text) == 64 && !strings.Contains(text, " ") }

// remove takes all elements that a span touches, when it touches more than one.
func (w *walk) remove(first int, starts []int, s span) {
	low := 0
	for starts[low+1] <= s.start {
		low++
	}
	high := low
	for starts[high+1] < s.end {
		high++
	}
	if low == high {
		return
	}
	for i := first + low; i <= first+high; i++ {
		if n := &w.doc.nodes[i]; n.edit == 0 {
			w.record.findSpans(w.doc.text(n), []span{{start: 0, end: len(w.doc.text(n)), rule: s.rule}}, n.kind == numberNode)
			w.doc.whole(i, s.rule)
		}
	}
}

// tail removes the element behind one whose token runs up to its end, when it looks like the rest of it.
func (w *walk) tail(first, i int) {
	at := first + i
	n := &w.doc.nodes[at]
	if n.edit == 0 || at+1 >= len(w.doc.nodes) || w.doc.nodes[at+1].edit > 0 || w.doc.nodes[at+1].kind != stringNode {
		return
	}
	e := &w.doc.edits[n.edit-1]
	last := len(e.spans) - 1
	rest := w.doc.text(&w.doc.nodes[at+1])
	if last < 0 || e.spans[last].end != len(e.text) || !isTokenRule(e.spans[last].rule) || !looksCutOff(rest) {
		return
	}
	w.record.find(e.spans[last].rule, rest, false)
	w.doc.whole(at+1, e.spans[last].rule)
}

func isTokenRule(rule string) bool {
	for i := range tokenShapes {
		if tokenShapes[i].rule == rule {
			return true
		}
	}
	return false
}

// looksCutOff is true for one run of letters and digits, both in it, with nothing that a word or an id would have.
func looksCutOff(text string) bool {
	letters, digits := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case isDigit(c):
			digits++
		case isLetter(c):
			letters++
		case c != '_' && c != '-' && c != '.':
			return false
		}
	}
	return len(text) >= 8 && digits >= 2 && letters >= 2 && strings.Count(text, "-") < 2
}
