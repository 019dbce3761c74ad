package redaction

import (
	"strings"
	"unicode"
)

// sensitivity is what a key name alone says about its value.
type sensitivity int

const (
	harmless  sensitivity = iota
	counted               // max_tokens: a number or boolean stays, anything else goes
	described             // token_type: a number, a time or a plain word stays as well
	sensitive             // the whole value goes
)

// keyMatch is the verdict about one key name.
type keyMatch struct {
	rule   string
	level  sensitivity
	plural bool // "tokens": a number under it is a count
}

// keyRules is the compiled form of the presets and of Policy.Keys and Policy.Allow. It is never written after Compile.
type keyRules struct {
	words   map[string]keyWord // by word, by pair "api key" and by triple "date of birth"
	firsts  [256]uint64        // lengths of words by their first byte, which spares most lookups
	segment map[string]bool    // what a name without separators is made of
	custom  map[string]bool    // Policy.Keys, squashed
	globs   []string           // Policy.Keys with *, squashed
	allowed map[string]bool    // Policy.Allow, squashed
}

const (
	// maxKeyWords is how many words of a name are looked at; the rest of a longer name says nothing more.
	maxKeyWords = 24
	maxKeyName  = 256
)

// keyName is a member name cut into lower-case words.
type keyName struct {
	text     []byte // the words, with one space between them
	words    [maxKeyWords][2]int
	count    int
	squashed []byte // letters and digits only
}

func (n *keyName) word(i int) []byte { return n.text[n.words[i][0]:n.words[i][1]] }

// part is words[i:i+size] with spaces between them.
func (n *keyName) part(i, size int) []byte { return n.text[n.words[i][0]:n.words[i+size-1][1]] }

// read cuts a name at case changes, digits and everything that is no letter.
func (n *keyName) read(name string) {
	if len(name) > maxKeyName {
		name = name[:maxKeyName]
	}
	if !isASCII(name) {
		name = strings.Map(lowerWide, newView(name).text)
	}
	open := false
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := isLetter(c) || c >= 0x80
		if open && (!letter || wordStarts(name, i)) {
			n.words[n.count][1] = len(n.text)
			n.count++
			open = false
		}
		if letter && !open && n.count < maxKeyWords {
			if n.count > 0 {
				n.text = append(n.text, ' ')
			}
			n.words[n.count][0] = len(n.text)
			open = true
		}
		if letter && open {
			n.text = append(n.text, lowerByte(c))
		}
		if letter || isDigit(c) {
			n.squashed = append(n.squashed, lowerByte(c))
		}
	}
	if open {
		n.words[n.count][1] = len(n.text)
		n.count++
	}
}

// lowerWide leaves ASCII alone, whose case still cuts words.
func lowerWide(c rune) rune {
	if c < 0x80 {
		return c
	}
	return unicode.ToLower(c)
}

// wordStarts is true at the B of aB and at the second capital of a word that follows an abbreviation: the K of APIKey.
// The s of APIs and IDs starts nothing.
func wordStarts(s string, i int) bool {
	if !isUpper(s[i]) {
		return false
	}
	return !isUpper(s[i-1]) || (i+2 < len(s) && 'a' <= s[i+1] && s[i+1] <= 'z')
}

// squash is the form in which whole names are compared: letters and digits, lower case, nothing between them.
func squash(name string) string {
	var n keyName
	n.read(name)
	return string(n.squashed)
}

// match decides about a key name: the policy's own keys first, then what it allows, then the presets.
func (k *keyRules) match(name string) keyMatch {
	var texts, squashed [64]byte
	n := keyName{text: texts[:0], squashed: squashed[:0]}
	n.read(name)
	switch {
	case len(n.squashed) == 0:
		return keyMatch{}
	case k.isCustom(n.squashed):
		return keyMatch{rule: ruleKey, level: sensitive}
	case len(k.allowed) > 0 && k.allowed[string(n.squashed)], keptKeys[string(n.squashed)]:
		return keyMatch{}
	case k.words["otp"].rule != "" && len(n.squashed) <= 16 && numberedCode(n.squashed):
		return keyMatch{rule: "otp", level: sensitive}
	}
	if found, ok := k.find(&n); ok {
		return found
	}
	if n.count > 0 {
		return k.findSquashed(&n)
	}
	return keyMatch{}
}

func (k *keyRules) isCustom(squashed []byte) bool {
	if k.custom[string(squashed)] {
		return true
	}
	for _, glob := range k.globs {
		if matchesGlob(glob, string(squashed)) {
			return true
		}
	}
	return false
}

// matchesGlob knows * only.
func matchesGlob(glob, name string) bool {
	parts := strings.Split(glob, "*")
	last := len(parts) - 1
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	for _, part := range parts[1:last] {
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
	return strings.HasSuffix(name, parts[last])
}

// find returns the verdict of the first preset among the words, longer ones first.
func (k *keyRules) find(n *keyName) (keyMatch, bool) {
	for size := min(3, n.count); size > 0; size-- {
		for i := 0; i+size <= n.count; i++ {
			word, ok := k.word(n.part(i, size))
			if ok && word.fits(n, i+size, size) {
				return k.verdict(n, word.rule, i, i+size), true
			}
		}
	}
	return keyMatch{}, false
}

// word looks a word or a few up, in the plural as well.
func (k *keyRules) word(part []byte) (keyWord, bool) {
	lengths := k.firsts[part[0]]
	if len(part) < 64 && lengths&(1<<len(part)) != 0 {
		if word, ok := k.words[string(part)]; ok {
			return word, true
		}
	}
	if size := len(part) - 1; size > 2 && size < 64 && part[size] == 's' && part[size-1] != 's' && lengths&(1<<size) != 0 {
		word, ok := k.words[string(part[:size])]
		return word, ok
	}
	return keyWord{}, false
}

func (k *keyRules) verdict(n *keyName, rule string, start, end int) keyMatch {
	found := keyMatch{rule: rule, level: sensitive}
	last := n.word(n.count - 1)
	found.plural = string(last) == "tokens"
	switch {
	case end < n.count && harmlessTails[string(last)]:
		found.level = described
	case start > 0 && harmlessHeads[string(n.word(0))], found.plural && n.count > 1 && tokenCounters[string(n.word(n.count-2))]:
		found.level = counted
	}
	return found
}

// findSquashed looks into words without separators: mysqlpassword by its ending, otppininput by cutting it into words
// that are all known.
func (k *keyRules) findSquashed(n *keyName) keyMatch {
	for i := range n.count {
		word := n.word(i)
		if len(word) < minSquashed || len(word) > maxSquashed {
			continue
		}
		if rule := k.ending(string(word)); rule != "" {
			return k.verdict(n, rule, i, i+1)
		}
	}
	if n.count > 4 || len(n.text) > maxSquashed {
		return keyMatch{}
	}
	parts, ok := k.cut(string(n.text))
	if !ok || len(parts) <= n.count {
		return keyMatch{}
	}
	var again keyName
	again.read(strings.Join(parts, " "))
	found, _ := k.find(&again)
	return found
}

// cut segments a squashed name into known words, the longest first. It reports false when something is left over.
func (k *keyRules) cut(name string) ([]string, bool) {
	var fail [maxSquashed + 1]bool
	var parts []string
	var from func(at int) bool
	from = func(at int) bool {
		if at == len(name) {
			return true
		}
		if fail[at] {
			return false
		}
		if name[at] == ' ' {
			return from(at + 1)
		}
		for size := min(maxSegment, len(name)-at); size >= 2; size-- {
			if part := name[at : at+size]; !k.segment[part] && !k.segment[singular(part)] {
				continue
			}
			parts = append(parts, name[at:at+size])
			if from(at + size) {
				return true
			}
			parts = parts[:len(parts)-1]
		}
		fail[at] = true
		return false
	}
	return parts, from(0) && len(parts) > 0
}
