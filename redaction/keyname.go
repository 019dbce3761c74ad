package redaction

import (
	"fmt"
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
	custom  map[string]bool    // Policy.Keys, squashed
	allowed map[string]bool    // Policy.Allow, squashed
}

// newKeyRules compiles the presets and the policy's own names.
func newKeyRules(p Policy) (*keyRules, error) {
	k := &keyRules{words: presetWords(), custom: map[string]bool{}, allowed: map[string]bool{}}
	for _, name := range p.Keys {
		if err := k.add(k.custom, "keys", name); err != nil {
			return nil, err
		}
	}
	for _, name := range p.Allow {
		if isPath(name) {
			continue
		}
		if err := k.add(k.allowed, "allow", name); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *keyRules) add(to map[string]bool, list, name string) error {
	squashed := squash(name)
	if squashed == "" || strings.ContainsAny(name, "*?$") {
		return fmt.Errorf("redaction policy: %s: %q, allowed are key names without wildcards; a path starts with $", list, name)
	}
	to[squashed] = true
	return nil
}

// match decides about a key name: the policy's own keys first, then what it allows, then the presets.
func (k *keyRules) match(name string) keyMatch {
	squashed := squash(name)
	switch {
	case squashed == "":
		return keyMatch{}
	case k.custom[squashed]:
		return keyMatch{rule: ruleKey, level: sensitive}
	case k.allowed[squashed], keptKeys[squashed]:
		return keyMatch{}
	}
	words := splitKey(name)
	rule, start, end := k.find(words)
	if rule == "" {
		return keyMatch{}
	}
	found := keyMatch{rule: rule, level: sensitive}
	last := words[len(words)-1]
	found.plural = last == "tokens"
	switch {
	case end < len(words) && harmlessTails[last]:
		found.level = described
	case start > 0 && harmlessHeads[words[0]], found.plural && len(words) > 1 && tokenCounters[words[len(words)-2]]:
		found.level = counted
	}
	return found
}

// find returns the rule of the first preset among the words, longer ones first, and which words those are.
func (k *keyRules) find(words []string) (rule string, start, end int) {
	for size := min(3, len(words)); size > 0; size-- {
		for i := 0; i+size <= len(words); i++ {
			part := words[i]
			if size > 1 {
				part = strings.Join(words[i:i+size], " ")
			}
			word, ok := k.words[part]
			if !ok {
				word, ok = k.words[singular(part)]
			}
			if ok && word.fits(words, i+size, size) {
				return word.rule, i, i + size
			}
		}
	}
	for i, word := range words {
		if rule := squashedRule(word); rule != "" {
			return rule, i, i + 1
		}
	}
	return "", 0, 0
}

// splitKey cuts a key name into lower-case words at case changes, digits and everything that is no letter.
func splitKey(name string) []string {
	folded := newView(name).text
	words := make([]string, 0, 4)
	start := -1
	for i := 0; i <= len(folded); i++ {
		if start >= 0 && (i == len(folded) || !isWordByte(folded[i]) || wordStarts(folded, i)) {
			words = append(words, foldWord(folded[start:i]))
			start = -1
		}
		if i < len(folded) && start < 0 && isWordByte(folded[i]) {
			start = i
		}
	}
	return words
}

// squash is the form in which whole names are compared: letters and digits, lower case, nothing between them.
func squash(name string) string {
	folded := newView(name).text
	kept := make([]byte, 0, len(folded))
	for i := range len(folded) {
		if isWordByte(folded[i]) || isDigit(folded[i]) {
			kept = append(kept, folded[i])
		}
	}
	return foldWord(string(kept))
}

func foldWord(word string) string {
	if isASCII(word) {
		return lower(word)
	}
	return strings.Map(unicode.ToLower, word)
}

func isWordByte(c byte) bool { return isLetter(c) || c >= 0x80 }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// wordStarts is true at the B of aB and at the second capital of a word that follows an abbreviation: the K of APIKey.
// The s of APIs and IDs starts nothing.
func wordStarts(s string, i int) bool {
	if !isUpper(s[i]) {
		return false
	}
	return !isUpper(s[i-1]) || (i+2 < len(s) && 'a' <= s[i+1] && s[i+1] <= 'z')
}

func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}
