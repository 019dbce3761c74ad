package redaction

import (
	"strings"
)

// tokenShape is a secret with a prefix that nothing else has. The shape is enough: no checksum, entropy or word list may
// talk a redactor out of it, and EXAMPLE in a key does not make it one.
type tokenShape struct {
	prefix  string
	rule    string
	tail    int  // the fewest characters after the prefix
	upper   bool // the tail is capitals and digits only
	bounded bool // the prefix is short enough to be the end of a word: disk-, risk-
}

// tokenShapes by vendor. It is never written.
var tokenShapes = func() []tokenShape {
	var shapes []tokenShape
	add := func(rule string, tail int, upper, bounded bool, prefixes string) {
		for prefix := range strings.SplitSeq(prefixes, " ") {
			shapes = append(shapes, tokenShape{prefix: prefix, rule: rule, tail: tail, upper: upper, bounded: bounded})
		}
	}
	add("aws-key", 16, true, false, "AKIA ASIA ABIA ACCA AIDA AROA")
	add("aws-key", 16, true, true, "A3T")
	add("github-token", 16, false, false, "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_")
	add("gitlab-token", 16, false, false, "glpat- glrt- gldt- glptt- glsoat- glcbt- glagent- GR1348941")
	add("slack-token", 8, false, false, "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp- hooks.slack.com/services/")
	add("stripe-key", 8, false, false, "sk_live_ sk_test_ rk_live_ rk_test_ whsec_")
	add("google-key", 30, false, false, "AIza")
	add("google-key", 16, false, false, "GOCSPX- ya29.")
	add("google-key", 30, false, true, "1//0")
	add("jwt", 12, false, false, "eyJ eyI eyK eyL")
	add("vendor-key", 16, false, false, "sk-ant- sk-proj- sk-or-v1- pypi-AgE dop_v1_ doo_v1_ dor_v1_ shpat_ shpca_ shppa_ shpss_ dckr_pat_ ATATT3 lin_api_ "+
		"NRAK- PMAK- gsk_ hvs. hvb. tfp_ rubygems_ sntrys_ sbp_ ntn_ glsa_ figd_ ddp_ duffel_test_ duffel_live_ EAACEdEose0cBA")
	add("vendor-key", 20, false, true, "sk-")
	add("vendor-key", 24, false, true, "hf_ r8_ xai-")
	add("vendor-key", 30, false, true, "npm_")
	add("vendor-key", 32, false, true, "SG. key-")
	return shapes
}()

const prefixBits = 12

// tokenFilter has a bit for the first three bytes of every prefix, and tokensByHash the shapes behind each.
var tokenFilter, tokensByHash = func() (filter [1 << prefixBits / 64]uint64, byHash map[uint32][]tokenShape) {
	byHash = map[uint32][]tokenShape{}
	for _, shape := range tokenShapes {
		p := shape.prefix
		h := hash3(uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16)
		filter[h>>6] |= 1 << (h & 63)
		byHash[h] = append(byHash[h], shape)
	}
	return filter, byHash
}()

func hash3(v uint32) uint32 { return v * 2654435769 >> (32 - prefixBits) }

// findTokens looks for prefixes at every position, inside words too: \b would miss an id that is glued to a word. The
// span goes on to the end of the run, so that no tail is left of a longer token than expected.
func (s *scan) findTokens() {
	text := s.text
	look := tokenScan{text: text, dots: cursor{what: "."}}
	head := uint32(text[0])<<8 | uint32(text[1])<<16
	for i := 0; i+2 < len(text); i++ {
		head = head>>8 | uint32(text[i+2])<<16
		h := hash3(head)
		if tokenFilter[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, shape := range tokensByHash[h] {
			if end := look.end(shape, i); end > 0 {
				s.add(i, end, shape.rule)
				i = end - 1
				if i+2 < len(text) {
					head = uint32(text[i+1])<<8 | uint32(text[i+2])<<16
				}
				break
			}
		}
	}
}

// tokenScan remembers what lies ahead, so that a run that starts like a token many times is read once.
type tokenScan struct {
	text   string
	dots   cursor
	run    int // where the current run of token bytes ends
	digits int // the next digit
}

// end returns the end of the token of a shape that starts at i, or 0.
func (look *tokenScan) end(shape tokenShape, i int) int {
	text := look.text
	if !strings.HasPrefix(text[i:], shape.prefix) || (shape.bounded && i > 0 && isAlnum(text[i-1])) {
		return 0
	}
	from := i + len(shape.prefix)
	for at := from; at < from+shape.tail; at++ {
		if at >= len(text) || !shape.allows(text[at]) {
			return 0
		}
	}
	for look.run = max(look.run, from); look.run < len(text) && isTokenByte(text[look.run]); {
		look.run++
	}
	for look.digits = max(look.digits, from); look.digits < len(text) && !isDigit(text[look.digits]); {
		look.digits++
	}
	switch {
	case shape.rule == "jwt" && look.dots.next(text, from) >= look.run:
		return 0
	case (shape.bounded || shape.rule == "vendor-key") && look.digits >= look.run: // a word
		return 0
	}
	return trimDots(text, from, look.run)
}

func (shape tokenShape) allows(c byte) bool {
	if shape.upper {
		return isUpper(c) || isDigit(c)
	}
	return isTokenByte(c)
}

// isTokenByte covers base64 in both alphabets, its padding, percent escapes and the dots of a JWT.
func isTokenByte(c byte) bool {
	return isAlnum(c) || indexByte("_-./+=~%", c)
}

// trimDots gives the full stop of a sentence back.
func trimDots(text string, from, end int) int {
	for end > from && text[end-1] == '.' {
		end--
	}
	return end
}

// findAuthSchemes finds the credentials after "Bearer", "Basic" and "Token". Prose (basic authentication) has a plain word
// there.
func (s *scan) findAuthSchemes() {
	text := s.text
	for i := 0; i+6 < len(text); i++ {
		if (text[i] != ' ' && text[i] != '\t') || i < 5 {
			continue
		}
		rule := schemeBefore(text, i)
		if rule == "" {
			continue
		}
		from := skipAny(text, i, " \t")
		end := from
		for end < len(text) && isTokenByte(text[end]) {
			end++
		}
		if end = trimDots(text, from, end); end-from >= 6 && !isProse(text[from:end]) {
			s.add(from, end, rule)
		}
		i = max(i, end-1)
	}
}

func schemeBefore(text string, i int) string {
	switch text[i-1] | 0x20 {
	case 'r':
		if i >= 6 && hasFoldPrefix(text[i-6:], "bearer") {
			return "bearer"
		}
	case 'c':
		if hasFoldPrefix(text[i-5:], "basic") {
			return "basic"
		}
	}
	return ""
}

// isProse is true for one word of letters: lower case, or with one leading capital.
func isProse(word string) bool {
	for i := range len(word) {
		if !isLetter(word[i]) || (i > 0 && isUpper(word[i])) {
			return false
		}
	}
	return len(word) < 16
}
