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
var tokenShapes = []tokenShape{
	{prefix: "AKIA", rule: "aws-key", tail: 16, upper: true},
	{prefix: "ASIA", rule: "aws-key", tail: 16, upper: true},
	{prefix: "ABIA", rule: "aws-key", tail: 16, upper: true},
	{prefix: "ACCA", rule: "aws-key", tail: 16, upper: true},
	{prefix: "ghp_", rule: "github-token", tail: 16},
	{prefix: "gho_", rule: "github-token", tail: 16},
	{prefix: "ghu_", rule: "github-token", tail: 16},
	{prefix: "ghs_", rule: "github-token", tail: 16},
	{prefix: "ghr_", rule: "github-token", tail: 16},
	{prefix: "github_pat_", rule: "github-token", tail: 16},
	{prefix: "glpat-", rule: "gitlab-token", tail: 16},
	{prefix: "glrt-", rule: "gitlab-token", tail: 16},
	{prefix: "gldt-", rule: "gitlab-token", tail: 16},
	{prefix: "xoxa-", rule: "slack-token", tail: 8},
	{prefix: "xoxb-", rule: "slack-token", tail: 8},
	{prefix: "xoxc-", rule: "slack-token", tail: 8},
	{prefix: "xoxd-", rule: "slack-token", tail: 8},
	{prefix: "xoxe-", rule: "slack-token", tail: 8},
	{prefix: "xoxe.", rule: "slack-token", tail: 8},
	{prefix: "xoxo-", rule: "slack-token", tail: 8},
	{prefix: "xoxp-", rule: "slack-token", tail: 8},
	{prefix: "xoxr-", rule: "slack-token", tail: 8},
	{prefix: "xoxs-", rule: "slack-token", tail: 8},
	{prefix: "xapp-", rule: "slack-token", tail: 8},
	{prefix: "hooks.slack.com/services/", rule: "slack-token", tail: 8},
	{prefix: "sk_live_", rule: "stripe-key", tail: 8},
	{prefix: "sk_test_", rule: "stripe-key", tail: 8},
	{prefix: "rk_live_", rule: "stripe-key", tail: 8},
	{prefix: "rk_test_", rule: "stripe-key", tail: 8},
	{prefix: "whsec_", rule: "stripe-key", tail: 8},
	{prefix: "AIza", rule: "google-key", tail: 30},
	{prefix: "GOCSPX-", rule: "google-key", tail: 16},
	{prefix: "ya29.", rule: "google-key", tail: 16},
	{prefix: "eyJ", rule: "jwt", tail: 12},
	{prefix: "sk-ant-", rule: "vendor-key", tail: 16},
	{prefix: "sk-proj-", rule: "vendor-key", tail: 16},
	{prefix: "sk-", rule: "vendor-key", tail: 20, bounded: true},
	{prefix: "hf_", rule: "vendor-key", tail: 24, bounded: true},
	{prefix: "npm_", rule: "vendor-key", tail: 30, bounded: true},
	{prefix: "pypi-AgE", rule: "vendor-key", tail: 16},
	{prefix: "dop_v1_", rule: "vendor-key", tail: 16},
	{prefix: "shpat_", rule: "vendor-key", tail: 16},
	{prefix: "SG.", rule: "vendor-key", tail: 32, bounded: true},
	{prefix: "dckr_pat_", rule: "vendor-key", tail: 16},
	{prefix: "ATATT3", rule: "vendor-key", tail: 16},
}

// tokensByByte finds the shapes that start with a byte. It is never written.
var tokensByByte = indexTokens()

func indexTokens() (index [256][]tokenShape) {
	for _, shape := range tokenShapes {
		index[shape.prefix[0]] = append(index[shape.prefix[0]], shape)
	}
	return index
}

func tokenRules() []string {
	rules := make([]string, 0, len(tokenShapes))
	for _, shape := range tokenShapes {
		rules = append(rules, shape.rule)
	}
	return rules
}

// findTokens looks for prefixes at every position, inside words too: \b would miss an id that is glued to a word. The
// span goes on to the end of the run, so that no tail is left of a longer token than expected.
func findTokens(_ *Redactor, text string, add func(start, end int, rule string)) {
	scan := tokenScan{text: text, dots: cursor{what: "."}}
	for i := 0; i < len(text); i++ {
		for _, shape := range tokensByByte[text[i]] {
			if end := scan.end(shape, i); end > 0 {
				add(i, end, shape.rule)
				i = end - 1
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
func (scan *tokenScan) end(shape tokenShape, i int) int {
	text := scan.text
	if !strings.HasPrefix(text[i:], shape.prefix) || (shape.bounded && i > 0 && isAlnum(text[i-1])) {
		return 0
	}
	from := i + len(shape.prefix)
	for at := from; at < from+shape.tail; at++ {
		if at >= len(text) || !shape.allows(text[at]) {
			return 0
		}
	}
	for scan.run = max(scan.run, from); scan.run < len(text) && isTokenByte(text[scan.run]); {
		scan.run++
	}
	for scan.digits = max(scan.digits, from); scan.digits < len(text) && !isDigit(text[scan.digits]); {
		scan.digits++
	}
	switch {
	case shape.rule == "jwt" && scan.dots.next(text, from) >= scan.run:
		return 0
	case shape.bounded && scan.digits >= scan.run: // a word
		return 0
	}
	return trimDots(text, from, scan.run)
}

func (shape tokenShape) allows(c byte) bool {
	if shape.upper {
		return isUpper(c) || isDigit(c)
	}
	return isTokenByte(c)
}

// isTokenByte covers base64 in both alphabets, its padding, percent escapes and the dots of a JWT.
func isTokenByte(c byte) bool {
	return isAlnum(c) || strings.IndexByte("_-./+=~%", c) >= 0
}

// trimDots gives the full stop of a sentence back.
func trimDots(text string, from, end int) int {
	for end > from && text[end-1] == '.' {
		end--
	}
	return end
}

// findAuthSchemes finds the credentials after "Bearer" and "Basic". Prose (basic authentication) has a plain word there.
func findAuthSchemes(r *Redactor, text string, add func(start, end int, rule string)) {
	for i := 0; i+6 < len(text); i++ {
		if text[i]|0x20 != 'b' {
			continue
		}
		for _, scheme := range [...]string{"bearer", "basic"} {
			if !hasFoldPrefix(text[i:], scheme) {
				continue
			}
			from := skipAny(text, i+len(scheme), " \t")
			if from == i+len(scheme) {
				continue
			}
			end := from
			for end < len(text) && isTokenByte(text[end]) {
				end++
			}
			if end = trimDots(text, from, end); end-from >= 6 && !isProse(text[from:end]) {
				add(from, end, scheme)
				i = end - 1
			}
		}
	}
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

func hasFoldPrefix(s, lowerPrefix string) bool {
	return len(s) >= len(lowerPrefix) && strings.EqualFold(s[:len(lowerPrefix)], lowerPrefix)
}

func skipAny(s string, i int, chars string) int {
	for i < len(s) && strings.IndexByte(chars, s[i]) >= 0 {
		i++
	}
	return i
}
