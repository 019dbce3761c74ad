package redaction

import (
	"math"
	"strings"
	"time"
)

// compact returns the letters and digits of a value, in upper case, or "" when it is longer than any identifier.
func compact(value string) string {
	if len(value) > 80 {
		return ""
	}
	kept := make([]byte, 0, len(value))
	for i := range len(value) {
		if c := value[i]; isAlnum(c) {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			kept = append(kept, c)
		}
	}
	return string(kept)
}

// digitsOf accepts bare digits.
func digitsOf(low, high int) func(string) bool {
	return func(value string) bool { return len(value) >= low && len(value) <= high && allDigits(value) }
}

// digitsWith accepts digits with separators between them.
func digitsWith(count int) func(string) bool {
	return func(value string) bool {
		digits := compact(value)
		return len(digits) == count && allDigits(digits)
	}
}

func both(a, b func(string) bool) func(string) bool {
	return func(value string) bool { return a(value) && b(value) }
}

func luhnDigits(value string) bool { return luhn(compact(value)) }

// isCardShape has the length of a card and is grouped like one; behind the words "credit card" no sum is asked for.
func isCardShape(value string) bool {
	digits := compact(value)
	return len(digits) >= 13 && len(digits) <= 19 && allDigits(digits)
}

// isSSN checks area, group and serial (SSA's rules since 2011), bare or 3-2-4.
func isSSN(value string) bool {
	d := compact(value)
	if len(d) != 9 || !allDigits(d) || (len(value) != 9 && !(len(value) == 11 && value[3] == value[6])) {
		return false
	}
	return d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
}

// isITIN is a taxpayer number of the IRS: 9xx with a middle group from its ranges.
func isITIN(value string) bool {
	d := compact(value)
	if len(d) != 9 || !allDigits(d) || d[0] != '9' {
		return false
	}
	group := d[3:5]
	return (group >= "50" && group <= "65") || (group >= "70" && group <= "88") || (group >= "90" && group <= "92") || group >= "94"
}

// isNationalPhone has seven to fifteen digits that are grouped like a number people dial.
func isNationalPhone(value string) bool {
	digits := compact(value)
	if len(digits) < 7 || len(digits) > 15 || !allDigits(digits) || isDate(value) {
		return false
	}
	return !strings.Contains(value, ".") || strings.Count(value, ".") <= 3
}

// isAccount is a number of six digits or more, with letters in front at most.
func isAccount(value string) bool {
	c := compact(value)
	if len(c) < 6 || len(c) > 20 || strings.ContainsAny(value, " ") && len(c) < 8 {
		return false
	}
	return allDigits(strings.TrimLeft(c, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}

func isPassport(value string) bool {
	c := compact(value)
	digits := 0
	for i := range len(c) {
		if isDigit(c[i]) {
			digits++
		}
	}
	return len(c) == len(value) && len(c) >= 6 && len(c) <= 10 && digits >= 5
}

// dateLayouts are what a birth date is written as.
var dateLayouts = []string{
	"2006-01-02", "2006/01/02", "2006.01.02", "02.01.2006", "2.1.2006", "01/02/2006", "1/2/2006", "02/01/2006", "02-01-2006", "01-02-2006",
	"02/01/06", "01/02/06", "20060102", "2 Jan 2006", "2 January 2006", "Jan 2 2006", "January 2 2006", "02-Jan-2006", "2006",
}

// isDate is a date of this or the last century.
func isDate(value string) bool {
	if len(value) < 4 || len(value) > 24 {
		return false
	}
	for _, layout := range dateLayouts {
		if day, err := time.Parse(layout, value); err == nil && day.Year() >= 1900 && day.Year() < 2100 {
			return true
		}
	}
	return false
}

func isWallet(value string) bool {
	switch {
	case len(value) == 42 && strings.HasPrefix(value, "0x"):
		return allHex(value[2:])
	case len(value) >= 26 && len(value) <= 35 && (value[0] == '1' || value[0] == '3'):
		return !strings.ContainsAny(value, "0OIl") && isRandom(value)
	}
	return len(value) >= 42 && len(value) <= 62 && strings.HasPrefix(value, "bc1")
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isAWSSecret is 40 characters of base64 that are neither hex nor words.
func isAWSSecret(value string) bool {
	return len(value) == 40 && !allHex(value) && isRandom(value)
}

// minEntropy in bits per character; words and names stay below, random base64 of 20 characters lies above.
const minEntropy = 3.5

// isRandom is true for what has capitals, small letters and digits, spread like chance would.
func isRandom(value string) bool {
	var counts [256]int
	var lowers, uppers, digits int
	for i := range len(value) {
		c := value[i]
		counts[c]++
		switch {
		case isDigit(c):
			digits++
		case isUpper(c):
			uppers++
		case isLetter(c):
			lowers++
		}
	}
	if lowers == 0 || uppers == 0 || digits == 0 {
		return false
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			share := float64(n) / float64(len(value))
			bits -= share * math.Log2(share)
		}
	}
	return bits >= minEntropy
}
