package redaction

// findPhones finds international numbers: a plus, a country code and as many digits as that country has. Numbers without a
// plus need a word that says what they are (detect_context.go): ten bare digits are an id or a time.
func (s *scan) findPhones() {
	text := s.text
	for i := 0; i+8 < len(text); i++ {
		if text[i] != '+' || (i > 0 && isAlnum(text[i-1])) {
			continue
		}
		if end := phoneEnd(text, i+1); end > 0 {
			s.add(i, end, "phone")
			i = end - 1
		}
	}
}

const maxPhone = 15 // digits, E.164

// phoneEnd reads digits with single separators and parentheses between them, and returns the end of the longest prefix that
// is a number.
func phoneEnd(text string, i int) int {
	var digits [maxPhone]byte
	size, end := 0, 0
	for ; i < len(text); i++ {
		c := text[i]
		if isDigit(c) {
			if size == maxPhone {
				return 0
			}
			digits[size] = c
			size++
			if (i+1 == len(text) || !isDigit(text[i+1])) && isE164(string(digits[:size])) {
				end = i + 1
			}
			continue
		}
		if !indexByte(" -.()/", c) || i+1 == len(text) || !(isDigit(text[i+1]) || indexByte(" (", text[i+1])) {
			break
		}
	}
	return end
}

// isE164 checks country code and length.
func isE164(digits string) bool {
	for size := 1; size <= 3 && size < len(digits); size++ {
		if lengths, ok := callingCodes[digits[:size]]; ok {
			national := digits[size:]
			if digits[0] == '1' {
				return len(national) == 10 && national[0] >= '2' && national[3] >= '2'
			}
			return len(national) >= lengths[0] && len(national) <= lengths[1]
		}
	}
	return false
}

// callingCodes are the assigned country codes of ITU-T E.164 with the lengths of their national numbers: those of the
// larger countries as published, a wide range for the others. It is never written.
var callingCodes = func() map[string][2]int {
	codes := map[string][2]int{
		"1": {10, 10}, "7": {10, 10}, "20": {8, 10}, "27": {9, 9}, "30": {10, 10}, "31": {9, 9}, "32": {8, 9}, "33": {9, 9}, "34": {9, 9}, "36": {8, 9},
		"39": {6, 11}, "40": {9, 9}, "41": {9, 9}, "43": {7, 13}, "44": {9, 10}, "45": {8, 8}, "46": {7, 10}, "47": {8, 8}, "48": {9, 9}, "49": {7, 12},
		"51": {8, 9}, "52": {10, 11}, "53": {8, 8}, "54": {10, 11}, "55": {10, 11}, "56": {9, 9}, "57": {10, 10}, "58": {10, 10}, "60": {8, 10},
		"61": {9, 9}, "62": {8, 12}, "63": {8, 10}, "64": {8, 10}, "65": {8, 8}, "66": {8, 9}, "81": {9, 10}, "82": {8, 10}, "84": {9, 10}, "86": {10, 11},
		"90": {10, 10}, "91": {10, 10}, "92": {9, 10}, "93": {9, 9}, "94": {9, 9}, "95": {7, 10}, "98": {10, 10},
	}
	for code := range set("211,212,213,216,218,220,221,222,223,224,225,226,227,228,229,230,231,232,233,234,235,236,237,238,239,240,241,242,243,244,245,246," +
		"247,248,249,250,251,252,253,254,255,256,257,258,260,261,262,263,264,265,266,267,268,269,290,291,297,298,299,350,351,352,353,354,355,356,357,358,359," +
		"370,371,372,373,374,375,376,377,378,380,381,382,383,385,386,387,389,420,421,423,500,501,502,503,504,505,506,507,508,509,590,591,592,593,594,595,596," +
		"597,598,599,670,672,673,674,675,676,677,678,679,680,681,682,683,685,686,687,688,689,690,691,692,850,852,853,855,856,880,886,960,961,962,963,964,965," +
		"966,967,968,970,971,972,973,974,975,976,977,992,993,994,995,996,998") {
		codes[code] = [2]int{6, 11}
	}
	return codes
}()

// findSSNs finds US social security numbers in their written form: 3-2-4 digits with the same separator twice.
func (s *scan) findSSNs() {
	text := s.text
	for i := 0; i+11 <= len(text); i++ {
		if !isDigit(text[i]) {
			continue
		}
		if (text[i+3] == '-' || text[i+3] == ' ') && (i == 0 || !continues(text, i-1)) && isSSN(text[i:i+11]) &&
			allDigits(text[i:i+3]) && allDigits(text[i+4:i+6]) && allDigits(text[i+7:i+11]) && (i+11 == len(text) || !continues(text, i+11)) {
			s.add(i, i+11, "ssn")
			i += 10
		}
	}
}

// continues is true for a neighbour that makes digits part of something longer.
func continues(text string, i int) bool {
	c := text[i]
	return isDigit(c) || c == '-' && i > 0 && i+1 < len(text) && (isAlnum(text[i-1]) && isAlnum(text[i+1]))
}

// findDates finds calendar dates of any kind, which HIPAA's safe harbor counts among identifiers.
func (s *scan) findDates() {
	text := s.text
	for i := 0; i+8 <= len(text); i++ {
		if !isDigit(text[i]) || (i > 0 && (isAlnum(text[i-1]) || text[i-1] == '.')) {
			continue
		}
		end := i
		for end < len(text) && end-i < 10 && (isDigit(text[end]) || indexByte("-/.", text[end])) {
			end++
		}
		for size := end - i; size >= 8; size-- {
			value := text[i : i+size]
			if !allDigits(value) && isDate(value) && (i+size == len(text) || !isDigit(text[i+size])) {
				s.add(i, i+size, "date")
				i += size
				break
			}
		}
	}
}
