package redaction

import (
	"strings"
)

// The check digits of national identifiers, each as its authority publishes them.

// weighted sums digits times weights.
func weighted(digits string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += int(digits[i]-'0') * w
	}
	return sum
}

func exactDigits(value string, count int) (string, bool) {
	d := compact(value)
	return d, len(d) == count && allDigits(d)
}

func isNINO(value string) bool {
	c := compact(value)
	return len(c) == 9 && isUpper(c[0]) && isUpper(c[1]) && allDigits(c[2:8]) && c[8] >= 'A' && c[8] <= 'D' && !strings.ContainsAny(c[:2], "DFIQUV")
}

func isNHS(value string) bool {
	d, ok := exactDigits(value, 10)
	if !ok {
		return false
	}
	check := 11 - weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11
	return check != 10 && check%11 == int(d[9]-'0')
}

func isNIR(value string) bool {
	d, ok := exactDigits(value, 15)
	if !ok {
		return false
	}
	return 97-mod(d[:13], 97) == mod(d[13:], 97)
}

// mod is the remainder of a number of any length.
func mod(digits string, by int) int {
	rest := 0
	for i := range len(digits) {
		rest = (rest*10 + int(digits[i]-'0')) % by
	}
	return rest
}

// isSteuerID checks ISO 7064 mod 11,10.
func isSteuerID(value string) bool {
	d, ok := exactDigits(value, 11)
	if !ok || d[0] == '0' {
		return false
	}
	product := 10
	for i := range 10 {
		sum := (int(d[i]-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return (11-product)%10 == int(d[10]-'0')
}

func isBSN(value string) bool {
	d, ok := exactDigits(value, 9)
	return ok && weighted(d, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0
}

func isPESEL(value string) bool {
	d, ok := exactDigits(value, 11)
	return ok && (10-weighted(d, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)%10)%10 == int(d[10]-'0')
}

// isCodiceFiscale checks the shape: six letters, two digits, letter, two digits, letter, three digits, letter.
func isCodiceFiscale(value string) bool {
	c := compact(value)
	if len(c) != 16 {
		return false
	}
	for i := range 16 {
		letter := i < 6 || i == 8 || i == 11 || i == 15
		if letter != isUpper(c[i]) {
			return false
		}
	}
	return true
}

func isNIF(value string) bool {
	c := compact(value)
	if len(c) != 9 {
		return false
	}
	if at := strings.IndexByte("XYZ", c[0]); at >= 0 {
		c = string(rune('0'+at)) + c[1:]
	}
	return allDigits(c[:8]) && "TRWAGMYFPDXBNJZSQVHLCKE"[mod(c[:8], 23)] == c[8]
}

// The tables of Verhoeff's check.
var (
	verhoeffTimes = [10]string{"0123456789", "1234067895", "2340178956", "3401289567", "4012395678", "5987604321", "6598710432", "7659821043", "8765932104", "9876543210"}
	verhoeffTurn  = [8]string{"0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258"}
)

func isAadhaar(value string) bool {
	d, ok := exactDigits(value, 12)
	if !ok || d[0] < '2' {
		return false
	}
	check := byte(0)
	for i := range 12 {
		turned := verhoeffTurn[i%8][d[11-i]-'0'] - '0'
		check = verhoeffTimes[check][turned] - '0'
	}
	return check == 0
}

func isCPF(value string) bool {
	d, ok := exactDigits(value, 11)
	if !ok || strings.Count(d, d[:1]) == 11 {
		return false
	}
	first := weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	second := weighted(d, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	return first == int(d[9]-'0') && second == int(d[10]-'0')
}

func isCNPJ(value string) bool {
	d, ok := exactDigits(value, 14)
	if !ok {
		return false
	}
	check := func(sum int) int {
		if sum %= 11; sum < 2 {
			return 0
		}
		return 11 - sum
	}
	first := check(weighted(d, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2))
	second := check(weighted(d, 6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2))
	return first == int(d[12]-'0') && second == int(d[13]-'0')
}

func isTFN(value string) bool {
	d, ok := exactDigits(value, 9)
	return ok && weighted(d, 1, 4, 3, 7, 5, 8, 6, 9, 10)%11 == 0
}

func isNRIC(value string) bool {
	c := compact(value)
	if len(c) != 9 || !strings.ContainsAny(c[:1], "STFGM") || !allDigits(c[1:8]) || !isUpper(c[8]) {
		return false
	}
	sum := weighted(c[1:8], 2, 7, 6, 5, 4, 3, 2)
	switch c[0] {
	case 'S':
		return "JZIHGFEDCBA"[sum%11] == c[8]
	case 'T':
		return "JZIHGFEDCBA"[(sum+4)%11] == c[8]
	case 'F':
		return "XWUTRQPNMLK"[sum%11] == c[8]
	case 'G':
		return "XWUTRQPNMLK"[(sum+4)%11] == c[8]
	}
	return true
}
