package redaction

import (
	"strings"
)

const (
	// minKeyBody is the shortest unbroken run of base64 that makes a PEM header more than a mention of one.
	minKeyBody = 16
	// maxKeyHead is how far behind the header the body may begin.
	maxKeyHead = 2048
)

// findPEM finds private keys from their first line to the last, or to the end of the text when the last line is cut off.
// A header alone, as documentation quotes it, stays. Line breaks may be real, escaped, or lost.
func (s *scan) findPEM() {
	text := s.text
	folded := lower(text)
	last := -1 // the next last line; kept between headers, so that many headers cost one search
	for i := 0; ; {
		begin := strings.Index(folded[i:], "-----begin ")
		if begin < 0 {
			return
		}
		begin += i
		label := begin + len("-----begin ")
		head := strings.Index(folded[label:min(len(folded), label+64)], "-----")
		if head < 0 || !strings.Contains(folded[label:label+head], "private key") {
			i = label
			continue
		}
		body := label + head + len("-----")
		if last < body {
			last = indexFrom(folded, "-----end ", body)
		}
		end := last
		if last < len(text) {
			end = lineOfDashes(folded, last+len("-----end "))
		}
		if !hasKeyBody(text[body:min(last, body+maxKeyHead)]) {
			i = body
			continue
		}
		s.add(begin, end, "pem")
		i = end
	}
}

// indexFrom is strings.Index from a position on, and the length of s when there is nothing.
func indexFrom(s, what string, from int) int {
	if at := strings.Index(s[from:], what); at >= 0 {
		return from + at
	}
	return len(s)
}

// lineOfDashes returns the end of the dashes that close a PEM line, or of what is left of it.
func lineOfDashes(text string, i int) int {
	if dashes := strings.Index(text[i:min(len(text), i+64)], "-----"); dashes >= 0 {
		return i + dashes + len("-----")
	}
	return min(len(text), i+64)
}

func hasKeyBody(body string) bool {
	run := 0
	for i := range len(body) {
		if c := body[i]; isAlnum(c) || c == '+' || c == '/' || c == '=' {
			if run++; run >= minKeyBody {
				return true
			}
			continue
		}
		run = 0
	}
	return false
}
