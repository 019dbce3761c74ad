package redaction

import (
	"errors"
	"strings"
)

// newKeyRules compiles the presets that are on and the policy's own names.
func newKeyRules(p Policy, active map[string]bool) (*keyRules, error) {
	k := &keyRules{words: presetWords(active), segment: segments(), custom: map[string]bool{}, allowed: map[string]bool{}}
	for word := range k.words {
		if len(word) < 64 {
			k.firsts[word[0]] |= 1 << len(word)
		}
	}
	for i, name := range p.Keys {
		if err := k.addCustom(name); err != nil {
			return nil, p.bad("keys", i, err)
		}
	}
	for i, name := range p.Allow {
		if isPath(name) {
			continue
		}
		squashed := squash(name)
		if squashed == "" || strings.ContainsAny(name, "*?$") {
			return nil, p.bad("allow", i, errors.New("allowed are key names without wildcards; a path starts with $"))
		}
		k.allowed[squashed] = true
	}
	return k, nil
}

var errKeyName = errors.New("allowed are key names, with * for any part of one; a path starts with $ and belongs under paths")

func (k *keyRules) addCustom(name string) error {
	if strings.ContainsAny(name, "?$") {
		return errKeyName
	}
	if !strings.Contains(name, "*") {
		squashed := squash(name)
		if squashed == "" {
			return errKeyName
		}
		k.custom[squashed] = true
		return nil
	}
	parts := strings.Split(name, "*")
	letters := 0
	for i, part := range parts {
		parts[i] = squash(part)
		letters += len(parts[i])
	}
	if letters < 2 {
		return errKeyName
	}
	k.globs = append(k.globs, strings.Join(parts, "*"))
	return nil
}
