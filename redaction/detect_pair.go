package redaction

import (
	"net/url"
	"strings"
)

const (
	// maxPairName is the longest name that is looked at left of a separator, in bytes.
	maxPairName = 96
	// maxPlain is the longest value that may describe a secret instead of being one: a time with its zone.
	maxPlain = 40
)

// findPairs finds name-and-value pairs in text: password=…, "password": "…", \"password\":\"…\", ?access_token=…,
// <password>…, Authorization: …, --token …. The name is judged like a key, the value ends where its quoting says, or at the
// end of the text when its closing quote was cut off.
func (s *scan) findPairs() {
	r, text := s.r, s.text
	for i := 0; i < len(text); {
		if classOf[text[i]]&(hasColon|hasEquals|hasDash) == 0 {
			i++
			continue
		}
		if text[i] == ':' && i >= len(placeholderHead) && text[i-len(placeholderHead):i] == placeholderHead {
			if end := r.placeholderEnd(text, i-len(placeholderHead)); end > 0 {
				i = end
				continue
			}
		}
		name, after := pairAt(text, i)
		if name == "" {
			i++
			continue
		}
		i = after
		rule, level := r.judge(name, text, after)
		if level == harmless {
			continue
		}
		start, quote := valueStart(text, after)
		if r.isReplaced(text, start, quote != 0) {
			continue
		}
		end := valueEnd(text, start, quote, rule)
		value := text[start:end]
		if isMask(value) || (level != sensitive && describes(value)) {
			continue
		}
		s.add(start, end, rule)
		i = end
	}
}

// pairAt returns the name before the separator at text[i] and the offset behind the separator, or "" when there is none.
func pairAt(text string, i int) (name string, after int) {
	switch text[i] {
	case '=', ':':
		if strings.HasPrefix(text[i:], "://") {
			return "", 0
		}
		after = skipAny(text, i+1, "=>")
		return nameBefore(text, i), after
	case '>': // <password>value
		open := strings.LastIndexByte(text[max(0, i-maxPairName):i], '<')
		if open < 0 {
			return "", 0
		}
		name = text[max(0, i-maxPairName)+open+1 : i]
		if strings.ContainsAny(name, " /\"") {
			return "", 0
		}
		return name, i + 1
	case '-': // --password value
		if !strings.HasPrefix(text[i:], "--") || (i > 0 && text[i-1] == '-') {
			return "", 0
		}
		end := i + 2
		for end < len(text) && end-i < maxPairName && (isAlnum(text[end]) || text[end] == '-' || text[end] == '_') {
			end++
		}
		if end < len(text) && text[end] == ' ' && end > i+2 {
			return text[i+2 : end], end
		}
	}
	return "", 0
}

// nameBefore reads a name backwards over spaces and closing quotes, escaped or not.
func nameBefore(text string, i int) string {
	end, low := i, max(0, i-maxPairName)
	for end > low && (text[end-1] == ' ' || text[end-1] == '\t') {
		end--
	}
	for end > low && indexByte("\"'`\\", text[end-1]) {
		end--
	}
	start := end
	for start > low && isNameByte(text[start-1]) {
		start--
	}
	name := text[start:end]
	if closed := strings.LastIndexByte(name, ']'); closed >= 0 && strings.IndexByte(name, '[') < 0 {
		return name[closed+1:] // what stands before it ends a placeholder or a list
	}
	return name
}

func isNameByte(c byte) bool {
	return isAlnum(c) || c >= 0x80 || indexByte("_-.%[]$", c)
}

// describes is true for a value that says something about a secret. In a URL it ends where an escape begins.
func describes(value string) bool {
	value, _, _ = strings.Cut(strings.TrimPrefix(value, "%20"), "%")
	value = strings.TrimRight(value, ":.!")
	return value != "" && len(value) <= maxPlain && plainWord(value)
}

// hasWord is true for two letters in a row: no shorter name means anything, and times and numbers have none.
func hasWord(name string) bool {
	for i := 1; i < len(name); i++ {
		if (isLetter(name[i]) || name[i] >= 0x80) && (isLetter(name[i-1]) || name[i-1] >= 0x80) {
			return true
		}
	}
	return false
}

// judge decides about the name of a pair. Behind ? & ; or # it is a URL parameter, where short names grant access.
func (r *Redactor) judge(name, text string, after int) (rule string, level sensitivity) {
	if !hasWord(name) {
		return "", harmless
	}
	plain := name
	if strings.IndexByte(name, '%') >= 0 {
		if unescaped, err := url.QueryUnescape(name); err == nil {
			plain = unescaped
		}
	}
	match := r.matchKey(plain)
	if match.level != harmless {
		if match.plural && after < len(text) && isDigit(text[after]) {
			return match.rule, described
		}
		return match.rule, match.level
	}
	before := after - len(name) - 2
	if before >= 0 && text[after-1] == '=' && strings.IndexByte("?&;#", text[before]) >= 0 && urlParams[squash(plain)] {
		return "url-param", sensitive
	}
	return "", harmless
}

// valueStart returns where the value behind a separator begins, and its opening quote if it has one.
func valueStart(text string, i int) (start int, quote byte) {
	i = skipAny(text, i, " \t")
	open := skipAny(text, i, `\`)
	if open < len(text) && strings.IndexByte("\"'`", text[open]) >= 0 {
		return open + 1, text[open]
	}
	return i, 0
}

// isReplaced is true for a value that is a placeholder and nothing more.
func (r *Redactor) isReplaced(text string, start int, quoted bool) bool {
	end := r.placeholderEnd(text, start)
	if end < 0 || end == len(text) {
		return end > 0
	}
	if quoted {
		return strings.IndexByte("\"'`\\", text[end]) >= 0
	}
	return isSpace(text[end]) || strings.IndexByte(bareEnds, text[end]) >= 0 || isEscapedBreak(text, end)
}

// bareEnds are the characters that end a value without quotes.
const bareEnds = ",;&)}]\"'<>`"

// valueEnd returns where the value at text[start] ends. Behind a quote, slashes are the backslashes before that quote.
func valueEnd(text string, start int, quote byte, rule string) int {
	switch {
	case quote != 0:
		slashes := 0
		for text[start-2-slashes] == '\\' {
			slashes++
		}
		return closingQuote(text, start, quote, slashes)
	case start < len(text) && (text[start] == '{' || text[start] == '['):
		return closingBracket(text, start)
	case rule == "authorization" || rule == "cookie":
		return endOfLine(text, start)
	}
	end := start
	for end < len(text) && !isSpace(text[end]) && strings.IndexByte(bareEnds, text[end]) < 0 && !isEscapedBreak(text, end) {
		end++
	}
	if end < len(text) && indexByte("\"'`", text[end]) {
		for end > start && text[end-1] == '\\' { // they belong to the quote behind them
			end--
		}
	}
	return end
}

// closingQuote returns where a quoted value ends. depth is the number of backslashes before its opening quote: text that
// was quoted twice closes with as many, and a quote inside the value has more.
func closingQuote(text string, i int, quote byte, depth int) int {
	slashes := 0
	for ; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			slashes++
			continue
		case text[i] == quote && depth == 0 && slashes%2 == 0:
			return i
		case text[i] == quote && depth > 0 && slashes <= depth:
			return i - slashes
		}
		slashes = 0
	}
	return len(text)
}

// closingBracket returns the end of the object or array that starts at text[i]. Brackets inside quotes do not count.
func closingBracket(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			if i = closingQuote(text, i+1, '"', 0); i == len(text) {
				return i
			}
		}
	}
	return len(text)
}

// endOfLine is where a header's value ends: any scheme goes with all that follows it, the next header stays.
func endOfLine(text string, i int) int {
	for i < len(text) && text[i] != '\n' && text[i] != '\r' && text[i] != '"' && !isEscapedBreak(text, i) {
		i++
	}
	return i
}

func isEscapedBreak(text string, i int) bool {
	return strings.HasPrefix(text[i:], `\n`) || strings.HasPrefix(text[i:], `\r`)
}
