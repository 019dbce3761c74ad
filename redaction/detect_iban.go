package redaction

import (
	"strings"
)

// findIBANs finds international bank account numbers of the registry's countries by length and check digits. The length
// is exact, so that a word that follows is not taken into the sum.
func (s *scan) findIBANs() {
	text := s.text
	for i := 0; i+15 <= len(text); i++ {
		if !isLetter(text[i]) || !isLetter(text[i+1]) || !isDigit(text[i+2]) || (i > 0 && isAlnum(text[i-1])) {
			continue
		}
		size := ibanLengths[strings.ToUpper(text[i:i+2])]
		if size == 0 {
			continue
		}
		if end := ibanEnd(text, i, size); end > 0 {
			s.add(i, end, "iban")
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
