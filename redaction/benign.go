package redaction

// The shapes of most strings in payloads, which nothing is looked for in: times, and ids of hexadecimal digits.

// isPlainShape is true for what cannot hold more than a time or an id.
func (r *Redactor) isPlainShape(s string, seen traits) bool {
	switch {
	case r.always:
		return false
	case seen&^(hasDigit|hasEncoded|hasHexLetter|hasRun|hasDash) == 0 && seen&hasHexLetter != 0:
		return isHexID(s, seen)
	case seen&hasColon != 0 && seen&hasDash != 0 && len(s) >= 19 && len(s) <= 35 && !r.dates:
		return isTimestamp(s)
	}
	return false
}

// isHexID is a UUID, or hexadecimal digits of a usual length that do not spell text.
func isHexID(s string, seen traits) bool {
	if seen&hasDash != 0 {
		return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
	}
	switch len(s) {
	case 16, 24, 32, 40, 64, 128:
		return !readableHex(s)
	}
	return false
}

// isTimestamp is RFC 3339, with a space for its T as well.
func isTimestamp(s string) bool {
	const shape = "0000-00-00T00:00:00"
	for i := range len(shape) {
		switch c := s[i]; shape[i] {
		case '0':
			if !isDigit(c) {
				return false
			}
		case 'T':
			if c|0x20 != 't' && c != ' ' {
				return false
			}
		default:
			if c != shape[i] {
				return false
			}
		}
	}
	rest := s[len(shape):]
	if len(rest) > 0 && rest[0] == '.' {
		rest = rest[1+digitsFrom(rest, 1):]
	}
	switch {
	case rest == "", rest == "Z", rest == "z":
		return true
	case len(rest) == 6:
		return (rest[0] == '+' || rest[0] == '-') && rest[3] == ':' && allDigits(rest[1:3]) && allDigits(rest[4:])
	}
	return false
}
