package redaction

import (
	"strings"
)

// contextReach is how far before a value a word may stand that says what it is, in bytes.
const contextReach = 40

// contextShape is personal data that looks like any other number: only a word before it, or the name of the member that
// holds it, makes it one.
type contextShape struct {
	rule   string
	words  []string // lower case; a word or two with one space between them
	accept func(value string) bool
}

// contextShapes in order. It is never written.
var contextShapes = []contextShape{
	{"card-number", words("credit card,debit card,card number,card no,kreditkarte,carte bancaire"), isCardShape},
	{"cvv", words("cvv,cvc,cvv2,cvc2,security code,csc"), digitsOf(3, 4)},
	{"pin", words("pin,pin code"), digitsOf(4, 8)},
	{"ssn", words("ssn,social security,social security number"), isSSN},
	{"phone", words("phone,tel,telephone,mobile,call,fax,cell,whatsapp,sms,telefon,handy"), isNationalPhone},
	{"birth-date", words("dob,born,birth,birthday,birthdate,date of birth,geboren,geburtsdatum,nacimiento,naissance"), isDate},
	{"bank-account", words("account number,account no,routing number,routing,aba,sort code,kontonummer"), isAccount},
	{"national-id", words("itin"), isITIN},
	{"national-id", words("ein,tax id,employer identification"), digitsWith(9)},
	{"national-id", words("sin,social insurance"), both(digitsWith(9), luhnDigits)},
	{"national-id", words("nino,national insurance"), isNINO},
	{"national-id", words("nhs,nhs number"), isNHS},
	{"national-id", words("nir,insee"), isNIR},
	{"national-id", words("steuer id,steueridentifikationsnummer,idnr"), isSteuerID},
	{"national-id", words("bsn,burgerservicenummer"), isBSN},
	{"national-id", words("pesel"), isPESEL},
	{"national-id", words("codice fiscale"), isCodiceFiscale},
	{"national-id", words("dni,nif,nie"), isNIF},
	{"national-id", words("aadhaar,aadhar"), isAadhaar},
	{"national-id", words("cpf"), isCPF},
	{"national-id", words("cnpj"), isCNPJ},
	{"national-id", words("tfn,tax file number"), isTFN},
	{"national-id", words("medicare"), digitsOf(10, 11)},
	{"national-id", words("nric,fin"), isNRIC},
	{"national-id", words("passport,passport number,passport no,reisepass"), isPassport},
	{"record-number", words("mrn,medical record,patient id,beneficiary"), isAccount},
	{"wallet", words("wallet,bitcoin,btc,ethereum,eth"), isWallet},
	{"aws-key", words("aws,aws secret,secret access,secret access key"), isAWSSecret},
}

func words(list string) []string { return strings.Split(list, ",") }

// contextIndex finds the shapes of a word by its first part. It is never written.
var contextIndex = func() map[string][]contextWord {
	index := map[string][]contextWord{}
	for i := range contextShapes {
		for _, phrase := range contextShapes[i].words {
			first, rest, _ := strings.Cut(phrase, " ")
			index[first] = append(index[first], contextWord{rest: rest, shape: i})
		}
	}
	return index
}()

type contextWord struct {
	rest  string // what has to follow the first word
	shape int
}

// findByContext looks for words of the index, and behind each for a value of its shape. The member's name counts as words
// before the text.
func (s *scan) findByContext() {
	if s.hint != "" {
		eachWord(s.hint, func(start, end int) {
			for _, shape := range contextOf(s.hint, start, end) {
				s.findValue(shape, 0)
			}
		})
	}
	if s.seen&(hasSpace|hasColon|hasEquals|hasDash|hasSlash) == 0 {
		return
	}
	eachWord(s.text, func(start, end int) {
		for _, shape := range contextOf(s.text, start, end) {
			s.findValue(shape, end)
		}
	})
}

// isContext is true for a name that holds a word of the index.
func isContext(name string) bool {
	found := false
	if len(name) <= contextReach {
		eachWord(name, func(start, end int) { found = found || len(contextOf(name, start, end)) > 0 })
	}
	return found
}

// eachWord calls visit for every run of ASCII letters of a length that the index has.
func eachWord(text string, visit func(start, end int)) {
	for i := 0; i < len(text); i++ {
		if !isLetter(text[i]) {
			continue
		}
		start := i
		for i < len(text) && isLetter(text[i]) {
			i++
		}
		if size := i - start; size >= 3 && size <= 28 && contextFirst[lowerByte(text[start])]&(1<<size) != 0 {
			visit(start, i)
		}
	}
}

// contextFirst has the lengths of the index's words by their first letter.
var contextFirst = func() (lengths [256]uint32) {
	for word := range contextIndex {
		lengths[word[0]] |= 1 << len(word)
	}
	return lengths
}()

// contextOf returns the shapes that the word at text[start:end] announces, several words before one.
func contextOf(text string, start, end int) []int {
	var buffer [28]byte
	word := buffer[:0]
	for i := start; i < end; i++ {
		word = append(word, lowerByte(text[i]))
	}
	var shapes []int
	for _, known := range contextIndex[string(word)] {
		if followedBy(text, end, known.rest) {
			shapes = append(shapes, known.shape)
		}
	}
	return shapes
}

// followedBy allows one separator between words, since names and sentences differ in it only.
func followedBy(text string, at int, rest string) bool {
	if rest == "" {
		return true
	}
	for word := range strings.SplitSeq(rest, " ") {
		if at < len(text) && indexByte(" _-.", text[at]) {
			at++
		}
		if !hasFoldPrefix(text[at:], word) {
			return false
		}
		at += len(word)
	}
	return true
}

// findValue tries what follows a word: each start of a run of value characters within reach.
func (s *scan) findValue(shape, from int) {
	known := &contextShapes[shape]
	if !s.r.active[known.rule] {
		return
	}
	text := s.text
	for i := from; i < len(text) && i-from <= contextReach; i++ {
		if !isAlnum(text[i]) || (i > 0 && isAlnum(text[i-1])) {
			continue
		}
		if end := longestAccepted(text, i, known.accept); end > 0 {
			s.add(i, end, known.rule)
			return
		}
	}
}

// longestAccepted tries the ends of the groups that follow text[i], the farthest first.
func longestAccepted(text string, i int, accept func(string) bool) int {
	var ends [12]int
	count := 0
	for at := i; at < len(text) && count < len(ends) && at-i < 72; {
		for at < len(text) && (isAlnum(text[at]) || text[at] == '+') {
			at++
		}
		ends[count] = at
		count++
		if at+1 >= len(text) || !indexByte(" -./()", text[at]) {
			break
		}
		for at < len(text) && indexByte(" -./()", text[at]) {
			at++
		}
	}
	for count > 0 {
		count--
		if accept(text[i:ends[count]]) {
			return ends[count]
		}
	}
	return 0
}
