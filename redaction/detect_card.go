package redaction

// findCards finds payment card numbers: 13 to 19 digits, bare or grouped by single separators, that pass the Luhn check
// and start like a card. The start is what spares ids and timestamps: one in ten numbers passes Luhn alone.
func (s *scan) findCards() {
	text := s.text
	for i := 0; i+13 <= len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		size := digitsFrom(text, i)
		end := 0
		if size >= 4 && (i == 0 || text[i-1] != '.' || i == 1 || !isDigit(text[i-2])) {
			end = cardEnd(text, i, size)
		}
		if end > 0 && !insideID(text, i, end) {
			s.add(i, end, "card-number")
			i = end - 1
			continue
		}
		i += size - 1
	}
}

func digitsFrom(text string, i int) int {
	size := 0
	for i+size < len(text) && isDigit(text[i+size]) {
		size++
	}
	return size
}

// cardEnd returns the end of the card number whose first group, of size digits, starts at text[i], or 0. More groups follow
// after one of four digits only.
func cardEnd(text string, i, size int) int {
	var digits [19]byte
	count := 0
	for group := size; ; group = digitsFrom(text, i) {
		if count+group > len(digits) || group < 2 {
			return 0
		}
		count += copy(digits[count:], text[i:i+group])
		if i += group; count >= 13 && isCard(string(digits[:count])) {
			return i
		}
		if size != 4 || i+1 >= len(text) || !indexByte(" -.", text[i]) || !isDigit(text[i+1]) {
			return 0
		}
		i++
	}
}

// insideID is true for digits within a UUID or a hexadecimal id of a usual length. Other letters around a number are
// only glued on.
func insideID(text string, start, end int) bool {
	from, to := extend(text, start, end, func(c byte) bool { return isAlnum(c) || c == '-' })
	if to-from == 36 && text[from+8] == '-' && text[from+13] == '-' && text[from+18] == '-' && text[from+23] == '-' {
		return true
	}
	from, to = extend(text, start, end, isAlnum)
	switch size := to - from; {
	case size == 16, size == 24, size >= 32:
	default:
		return false
	}
	letters := false
	for i := from; i < to; i++ {
		if isLetter(text[i]) && text[i]|0x20 > 'f' {
			return false
		}
		letters = letters || isLetter(text[i])
	}
	return letters
}

// extend widens a span over neighbours of a class, by at most the longest id on either side.
func extend(text string, from, to int, class func(byte) bool) (int, int) {
	low, high := max(0, from-128), min(len(text), to+128)
	for from > low && class(text[from-1]) {
		from--
	}
	for to < high && class(text[to]) {
		to++
	}
	return from, to
}

// isCard checks the issuer's range and the Luhn sum of 13 to 19 digits.
func isCard(digits string) bool {
	return hasIssuer(digits) && luhn(digits)
}

// hasIssuer knows the ranges of the large schemes (ISO/IEC 7812, the schemes' public lists) and their lengths.
func hasIssuer(digits string) bool {
	n := len(digits)
	four := 0
	for _, c := range digits[:4] {
		four = four*10 + int(c-'0')
	}
	two := four / 100
	switch {
	case four/1000 == 4:
		return n == 13 || n == 16 || n == 19
	case two == 34 || two == 37:
		return n == 15
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		return n == 16
	case two == 62, two == 65, four == 6011, four >= 6440 && four <= 6499, four >= 3528 && four <= 3589:
		return n >= 16
	case two == 36, two == 38, two == 39, four >= 3000 && four <= 3059:
		return n >= 14
	case two == 50, two >= 56 && two <= 58, two == 63, two == 67:
		return n >= 16
	}
	return false
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
