package redaction

import (
	"strings"
)

// findCards finds payment card numbers: 13 to 19 digits, bare or grouped by single separators, that pass the Luhn check
// and start like a card. The start is what spares ids and timestamps: one in ten numbers passes Luhn alone.
func findCards(_ *Redactor, text string, add func(start, end int, rule string)) {
	for i := 0; i < len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		groups := digitGroups(text, i)
		addCards(text, groups, add)
		i = groups[len(groups)-1].end
	}
}

// digitGroups returns the groups of digits that follow each other with one separator between them.
func digitGroups(text string, i int) []span {
	var groups []span
	for {
		start := i
		for i < len(text) && isDigit(text[i]) {
			i++
		}
		groups = append(groups, span{start: start, end: i})
		if i+1 >= len(text) || strings.IndexByte(" -.", text[i]) < 0 || !isDigit(text[i+1]) {
			return groups
		}
		i++
	}
}

// addCards tries every run of groups that has the length of a card: one group, or several after one of four digits.
func addCards(text string, groups []span, add func(start, end int, rule string)) {
	var digits [19]byte
	for first := 0; first < len(groups); first++ {
		start := groups[first].start
		if groups[first].end-start < 4 || (start > 0 && first > 0 && text[start-1] == '.') {
			continue
		}
		grouped := groups[first].end-start == 4
		size := 0
		for last := first; last < len(groups) && (last == first || grouped); last++ {
			group := text[groups[last].start:groups[last].end]
			if size+len(group) > len(digits) || len(group) < 2 {
				break
			}
			size += copy(digits[size:], group)
			if end := groups[last].end; size >= 13 && isCard(string(digits[:size])) && !insideID(text, start, end) {
				add(start, end, "card-number")
				first = last
				break
			}
		}
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
	switch to - from {
	case 16, 24, 32, 40, 64, 128:
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

// findIBANs finds international bank account numbers of the registry's countries by length and check digits. The length
// is exact, so that a word that follows is not taken into the sum.
func findIBANs(_ *Redactor, text string, add func(start, end int, rule string)) {
	for i := 0; i+15 <= len(text); i++ {
		if !isLetter(text[i]) || !isLetter(text[i+1]) || !isDigit(text[i+2]) || (i > 0 && isAlnum(text[i-1])) {
			continue
		}
		size := ibanLengths[strings.ToUpper(text[i:i+2])]
		if size == 0 {
			continue
		}
		if end := ibanEnd(text, i, size); end > 0 {
			add(i, end, "iban")
			i = end - 1
		}
	}
}

// ibanEnd returns the end of a valid IBAN of size characters that starts at text[i], or 0.
func ibanEnd(text string, i, size int) int {
	compact := make([]byte, 0, size)
	for ; i < len(text) && len(compact) < size; i++ {
		switch c := text[i]; {
		case isAlnum(c):
			compact = append(compact, c)
		case (c == ' ' || c == '-') && len(compact) > 0 && text[i-1] != c:
		default:
			return 0
		}
	}
	if len(compact) < size || (i < len(text) && isAlnum(text[i])) || !mod97(compact) {
		return 0
	}
	return i
}

// mod97 is the check of ISO 7064 over the number with its first four characters moved to the end.
func mod97(iban []byte) bool {
	rest := 0
	for i := range iban {
		if c := iban[(i+4)%len(iban)]; isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c|0x20-'a') + 10) % 97
		}
	}
	return rest == 1
}

// ibanLengths by country, from the public IBAN registry. It is never written.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
	"CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
	"FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
	"LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
	"NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
	"SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
	"UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}
