package redaction

// traits are what one look at a string finds. They decide which detectors run at all, and keep the cost of plain strings
// near that of reading them.
type traits uint32

const (
	hasDigit     traits = 1 << iota
	hasEncoded          // a letter or digit of base64 or hex
	hasAt               // @
	hasPercent          // %
	hasColon            // :
	hasEquals           // = or >
	hasDash             // -
	hasQuote            // ( or ', which open what a database quotes
	hasHigh             // not ASCII
	hasSlash            // /
	hasBackslash        // \
	hasAmp              // &
	hasPlus             // +
	hasSpace            // any white space
	hasDot              // .
	hasWide             // a letter or sign of base64 that hex has not
	hasHexLetter        // a to f
	hasRun              // base64 or hex of at least minEncoded bytes without a break
)

// minEncoded is the shortest run that is tried as base64 or hex: 12 bytes of text.
const minEncoded = 16

// classOf holds what each byte adds to the traits of a string. It is never written.
var classOf = func() (table [256]traits) {
	for c := range table {
		b := byte(c)
		switch {
		case isDigit(b):
			table[c] = hasDigit | hasEncoded
		case isHex(b):
			table[c] = hasEncoded | hasHexLetter
		case isLetter(b), b == '_':
			table[c] = hasEncoded | hasWide
		case b >= 0x80:
			table[c] = hasHigh
		}
	}
	for c, t := range map[byte]traits{
		'@': hasAt, '%': hasPercent, ':': hasColon, '=': hasEquals, '>': hasEquals, '-': hasDash | hasEncoded, '(': hasQuote, '\'': hasQuote, '"': hasQuote, '{': hasQuote,
		'/': hasSlash | hasEncoded | hasWide, '\\': hasBackslash, '&': hasAmp, '+': hasPlus | hasEncoded | hasWide, ' ': hasSpace, '\t': hasSpace, '\n': hasSpace,
		'\r': hasSpace, '.': hasDot,
	} {
		table[c] = t
	}
	return table
}()

// look reads a string once.
func look(s string) (seen traits, digits int) {
	run := 0
	for i := range len(s) {
		class := classOf[s[i]]
		seen |= class
		digits += int(class & hasDigit)
		if class&hasEncoded == 0 {
			run = 0
		} else if run++; run == minEncoded {
			seen |= hasRun
		}
	}
	return seen, digits
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
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
		b[i] = lowerByte(c)
	}
	return string(b)
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isHex(c byte) bool { return isDigit(c) || ('a' <= c|0x20 && c|0x20 <= 'f') }

// set reads a list of words separated by commas.
func set(list string) map[string]bool {
	members := map[string]bool{}
	for start, i := 0, 0; i <= len(list); i++ {
		if i == len(list) || list[i] == ',' {
			members[list[start:i]] = true
			start = i + 1
		}
	}
	return members
}

func hasFoldPrefix(s, lowerPrefix string) bool {
	if len(s) < len(lowerPrefix) {
		return false
	}
	for i := range len(lowerPrefix) {
		if lowerByte(s[i]) != lowerPrefix[i] {
			return false
		}
	}
	return true
}

func skipAny(s string, i int, chars string) int {
	for i < len(s) && indexByte(chars, s[i]) {
		i++
	}
	return i
}

func indexByte(chars string, c byte) bool {
	for i := range len(chars) {
		if chars[i] == c {
			return true
		}
	}
	return false
}
