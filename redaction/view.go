package redaction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// view is a string as the detectors see it: disguises removed (full-width forms, zero-width characters, look-alike
// letters, percent escapes), with the place of every byte in the original. Detectors match on the view, the original is
// cut.
type view struct {
	text string
	at   []int32 // at[i] is where text[i]'s character starts in the original, at[len(text)] its end; nil when text is the original
}

// newView folds a string. It copies nothing when s is plain ASCII, which nearly all strings are.
func newView(s string) view {
	if looksPlain(s) {
		return view{text: s}
	}
	text := make([]byte, 0, len(s))
	at := make([]int32, 0, len(s)+1)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			text, at = append(text, c), append(at, int32(i))
			i++
			continue
		}
		char, size := utf8.DecodeRuneInString(s[i:])
		start := len(text)
		if unfolded(char) {
			text = append(text, s[i:i+size]...)
		} else {
			text = append(text, foldRune(char)...)
		}
		for range len(text) - start {
			at = append(at, int32(i))
		}
		i += size
	}
	return view{text: string(text), at: append(at, int32(len(s)))}
}

// original maps a span of the view to the bytes to cut, invisible characters at its edges included.
func (v view) original(s span) span {
	if v.at == nil {
		return s
	}
	s.start, s.end = int(v.at[s.start]), int(v.at[s.end])
	return s
}

// looksPlain is true when no character of s folds.
func looksPlain(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		char, size := utf8.DecodeRuneInString(s[i:])
		if !unfolded(char) {
			return false
		}
		i += size
	}
	return true
}

// unfolded is true for the letters of common scripts that are what they look like, which spares a look into tables.
func unfolded(c rune) bool {
	switch {
	case c >= 0xC0 && c < 0x132, c >= 0x4E00 && c < 0xA000, c >= 0xAC00 && c < 0xD7A4, c >= 0x3041 && c < 0x3097, c >= 0x30A1 && c < 0x30FB:
		return true
	}
	return false
}

// foldRune maps a character to the plain form a detector looks for, or to nothing when it is invisible.
func foldRune(r rune) string {
	if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) {
		return ""
	}
	if plain, ok := lookAlikes[r]; ok {
		return plain
	}
	if unicode.IsDigit(r) { // a decimal digit of any script
		return string('0' + digitValue(r))
	}
	folded := norm.NFKC.String(string(r))
	if isASCII(folded) && len(folded) <= 4 {
		return folded
	}
	return string(r)
}

// digitValue of a decimal digit: Unicode keeps each script's ten in a row that starts at a zero.
func digitValue(r rune) rune {
	value := rune(0)
	for value < 9 && unicode.IsDigit(r-value-1) {
		value++
	}
	if r >= 0x1D7CE && r <= 0x1D7FF { // the mathematical digits: five rows without a gap
		return (r - 0x1D7CE) % 10
	}
	return value
}

// lookAlikes are letters and marks of other scripts that are drawn like an ASCII one. It is never written.
var lookAlikes = func() map[rune]string {
	const from = "авеѕіјкмнорԛтухсԁһАВЕЅІЈКМНОРТХСУοαΑΒΕΗΙΚΜΝΟΡΤΧΥΖ‐‑‒–—―−․﹒。∶ſ"
	const to = "aBeSijkMHopqTyxcdhABESIJKMHOPTXCYoaABEHIKMNOPTXYZ-------...:s"
	table := map[rune]string{}
	n := 0
	for _, c := range from {
		table[c] = to[n : n+1]
		n++
	}
	return table
}()

// maxUnescapes is how often a text is unescaped again: %2540 is an @ as well.
const maxUnescapes = 3

// unescaped is a view without percent escapes, \u escapes and HTML entities; ok is false when there are none. Each step
// shortens the text, and offsets lead back to the string that v is a view of.
func (v view) unescaped() (view, bool) {
	next := v
	for range maxUnescapes {
		shorter, ok := unescapeOnce(next)
		if !ok {
			break
		}
		next = shorter
	}
	return next, len(next.text) != len(v.text)
}

func unescapeOnce(v view) (view, bool) {
	first := strings.IndexAny(v.text, "%&\\")
	if first < 0 {
		return v, false
	}
	var text []byte
	var at []int32
	for i := 0; i < len(v.text); {
		char, size := unescape(v.text, i)
		if size > 1 && text == nil {
			text = append(make([]byte, 0, len(v.text)), v.text[:i]...)
			at = make([]int32, 0, len(v.text)+1)
			for j := range i {
				at = append(at, v.place(j))
			}
		}
		if text != nil {
			text = append(text, char...)
			for range len(char) {
				at = append(at, v.place(i))
			}
		}
		i += size
	}
	if text == nil {
		return v, false
	}
	return view{text: string(text), at: append(at, v.place(len(v.text)))}, true
}

func (v view) place(i int) int32 {
	if v.at == nil {
		return int32(i)
	}
	return v.at[i]
}

// unescape returns the character at text[i] and how many bytes spell it.
func unescape(text string, i int) (char string, size int) {
	switch rest := text[i:]; text[i] {
	case '%':
		if len(rest) >= 3 && isHex(rest[1]) && isHex(rest[2]) {
			return string([]byte{hexValue(rest[1])<<4 | hexValue(rest[2])}), 3
		}
	case '\\':
		if value, size := escapedRune(rest); size > 0 {
			return plainRune(value), size
		}
	case '&':
		if char, size := entity(rest); size > 0 {
			return char, size
		}
	}
	return text[i : i+1], 1
}

// escapedRune reads \uXXXX and \xXX.
func escapedRune(s string) (value rune, size int) {
	digits := 0
	switch {
	case len(s) >= 6 && s[1] == 'u':
		digits = 4
	case len(s) >= 4 && s[1] == 'x':
		digits = 2
	default:
		return 0, 0
	}
	for i := range digits {
		if !isHex(s[2+i]) {
			return 0, 0
		}
		value = value<<4 | rune(hexValue(s[2+i]))
	}
	return value, 2 + digits
}

// entities are the named ones that matter to a shape.
var entities = []struct{ name, char string }{
	{"&amp;", "&"},
	{"&lt;", "<"},
	{"&gt;", ">"},
	{"&quot;", `"`},
	{"&apos;", "'"},
	{"&commat;", "@"},
	{"&period;", "."},
	{"&nbsp;", " "},
	{"&equals;", "="},
	{"&colon;", ":"},
	{"&num;", "#"},
	{"&sol;", "/"},
}

func entity(s string) (char string, size int) {
	if len(s) < 4 {
		return "", 0
	}
	if s[1] != '#' {
		for _, e := range entities {
			if strings.HasPrefix(s, e.name) {
				return e.char, len(e.name)
			}
		}
		return "", 0
	}
	i, base := 2, rune(10)
	if s[2]|0x20 == 'x' {
		i, base = 3, 16
	}
	value := rune(0)
	first := i
	for ; i < len(s) && i-first < 7 && (isDigit(s[i]) || (base == 16 && isHex(s[i]))); i++ {
		value = value*base + rune(hexValue(s[i]))
	}
	if i == first || i == len(s) || s[i] != ';' {
		return "", 0
	}
	return plainRune(value), i + 1
}

func plainRune(value rune) string {
	if !utf8.ValidRune(value) {
		return "?"
	}
	if value < utf8.RuneSelf {
		return string(value)
	}
	return foldRune(value)
}

func hexValue(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	default:
		return c | 0x20 - 'a' + 10
	}
}
