package redaction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is a string as the detectors see it: disguises removed (full-width forms, zero-width characters, look-alike
// letters), with the place of every byte in the original. Detectors match on the view, the original is cut.
type view struct {
	text string
	at   []int // at[i] is where text[i]'s character starts in the original, at[len(text)] its end; nil when text is the original
}

// newView copies nothing when s is plain ASCII, which nearly all strings are.
func newView(s string) view {
	if isASCII(s) {
		return view{text: s}
	}
	var text strings.Builder
	at := make([]int, 0, len(s)+1)
	for i, r := range s {
		folded := foldRune(r)
		text.WriteString(folded)
		for range len(folded) {
			at = append(at, i)
		}
	}
	return view{text: text.String(), at: append(at, len(s))}
}

// original maps a span of the view to the bytes to cut, invisible characters at its edges included.
func (v view) original(s span) span {
	if v.at == nil {
		return s
	}
	s.start, s.end = v.at[s.start], v.at[s.end]
	return s
}

// foldRune maps a character to the plain form a detector looks for, or to nothing when it is invisible.
func foldRune(r rune) string {
	if r < utf8.RuneSelf {
		return string(r)
	}
	if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) {
		return ""
	}
	if plain := lookAlike(r); plain != 0 {
		return string(plain)
	}
	folded := norm.NFKC.String(string(r))
	if isASCII(folded) && len(folded) <= 4 {
		return folded
	}
	return string(r)
}

// lookAlike maps the letters and marks of other scripts that are drawn like an ASCII one.
func lookAlike(r rune) byte {
	const from = "авеѕіјкмнорԛтухсԁһАВЕЅІЈКМНОРТХСУοαΑΒΕΗΙΚΜΝΟΡΤΧΥΖ‐‑‒–—―−․﹒。∶"
	const to = "aBeSijkMHopqTyxcdhABESIJKMHOPTXCYoaABEHIKMNOPTXYZ-------...:"
	n := 0
	for _, c := range from {
		if c == r {
			return to[n]
		}
		n++
	}
	return 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower folds ASCII letters only and so keeps every offset.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return lowerCopy(s)
		}
	}
	return s
}

func lowerCopy(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
