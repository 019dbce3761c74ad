package redaction

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

const (
	// minTaint is the shortest value, in bytes, that is removed wherever it is repeated.
	minTaint = 4
	// maxNesting is how many levels of JSON inside JSON strings are redacted inside.
	maxNesting = 2
	// maxRuleName bounds a placeholder's label.
	maxRuleName = 32
)

// The rules that are not detectors or presets.
const (
	rulePath     = "path"     // Policy.Paths
	ruleKey      = "key"      // Policy.Keys
	ruleUnlisted = "unlisted" // allow-list mode
	rulePayload  = "payload"  // a text echoes a payload that was not understood
	ruleWithheld = "withheld" // a text that could not be redacted
)

// Redactor applies one compiled policy. It is immutable and safe for concurrent use.
type Redactor struct {
	policy   Policy
	keys     *keyRules
	deny     pathSet
	allow    pathSet
	patterns []pattern
	labels   map[string]bool // every rule's name
}

// pattern is a compiled detector of the user's own.
type pattern struct {
	rule  string
	match *regexp.Regexp
}

// Compile checks every rule of the policy and builds its redactor. A bad rule is an error that names the rule:
// a policy is used whole or not at all.
func Compile(p Policy) (*Redactor, error) {
	p = p.withDefaults()
	if err := p.validate(); err != nil {
		return nil, err
	}
	r := &Redactor{policy: p, labels: presetLabels()}
	var err error
	if r.keys, err = newKeyRules(p); err != nil {
		return nil, err
	}
	if r.deny, err = newPathSet("paths", p.Paths); err != nil {
		return nil, err
	}
	var kept []string
	for _, entry := range p.Allow {
		if isPath(entry) {
			kept = append(kept, entry)
		}
	}
	if r.allow, err = newPathSet("allow", kept); err != nil {
		return nil, err
	}
	for _, user := range p.Patterns {
		compiled, err := user.compile(r.labels)
		if err != nil {
			return nil, err
		}
		r.patterns = append(r.patterns, compiled)
		r.labels[user.Name] = true
	}
	return r, nil
}

func (p Pattern) compile(taken map[string]bool) (pattern, error) {
	if !isRuleName(p.Name) || taken[p.Name] {
		return pattern{}, fmt.Errorf("redaction policy: patterns: name %q, allowed are unused names of lower-case letters, digits, - and _, at most %d bytes",
			p.Name, maxRuleName)
	}
	match, err := regexp.Compile(p.Match)
	if err != nil {
		return pattern{}, fmt.Errorf("redaction policy: patterns: %s: %w", p.Name, err)
	}
	if p.Match == "" || match.MatchString("") || match.MatchString(placeholderHead) {
		return pattern{}, fmt.Errorf("redaction policy: patterns: %s: matches the empty text or %s, which would remove everything",
			p.Name, placeholderHead)
	}
	return pattern{rule: p.Name, match: match}, nil
}

func isRuleName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isDigit(c) && !('a' <= c && c <= 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxRuleName
}

func presetLabels() map[string]bool {
	labels := set(rulePath + "," + ruleKey + "," + ruleUnlisted + "," + rulePayload + "," + ruleWithheld)
	for _, preset := range keyPresets() {
		labels[preset.rule] = true
	}
	for _, d := range detectors {
		for _, rule := range d.rules {
			labels[rule] = true
		}
	}
	return labels
}

// Payload redacts one JSON document. The result is always valid JSON: redacted, or a withheld marker with a [Reason]
// when the input is not understood, too expensive, or still holds a removed value afterwards.
func (r *Redactor) Payload(raw []byte) (redacted Redacted) {
	defer func() {
		if recover() != nil {
			redacted = withheld(ReasonPanic)
		}
	}()
	if earlier, ok := asMarker(raw); ok {
		return earlier
	}
	if r.policy.Mode == Withhold {
		return withheld(ReasonPolicy)
	}
	if len(raw) > r.policy.MaxBytes {
		return withheld(ReasonTooLarge)
	}
	rec := r.newRecord()
	out, err := r.redact(string(raw), rec)
	if err == nil {
		err = r.verify(out, rec)
	}
	if err != nil {
		return withheld(reasonOf(err))
	}
	return Redacted{JSON: []byte(out), Report: rec.report}
}

// redact applies all rules until nothing changes any more: what one removes may show another what was hidden behind it.
// A document that does not come to rest is withheld.
func (r *Redactor) redact(text string, rec *record) (string, error) {
	for range maxPasses {
		doc, err := r.parse(text, r.root(), 0, rec)
		if err != nil {
			return "", err
		}
		if err := r.removeCopies(&doc, rec); err != nil {
			return "", err
		}
		out := doc.render(rec)
		if out == text {
			return out, nil
		}
		text = out
	}
	return "", stop(ReasonVerification)
}

// root is what the document's root inherits from the policy.
func (r *Redactor) root() context {
	root := context{deny: r.deny.root(), allow: r.allow.root()}
	root.listed = r.allow.selected(root.allow)
	if r.policy.Mode == Withhold { // every value is a removed one
		root.field = ruleWithheld
	}
	return root
}

func reasonOf(err error) Reason {
	var s stop
	if errors.As(err, &s) {
		return Reason(s)
	}
	return ReasonInvalidJSON
}

// KeyRule says whether a member of that name loses its whole value, and by which rule. A name that only describes or
// counts (token_type, max_tokens) is not sensitive, although a value that looks like a secret is removed under it too.
func (r *Redactor) KeyRule(name string) (rule string, isSensitive bool) {
	match := r.matchKey(name)
	if match.level != sensitive {
		return "", false
	}
	return match.rule, true
}

// matchKey ignores placeholders in a name: [redacted:token] is no token.
func (r *Redactor) matchKey(name string) keyMatch {
	return r.keys.match(strings.Join(r.between(name), " "))
}

// Detect says whether a detector finds a secret or personal data in s, and names the first one that does. It is what
// refuses a job key that would carry such a value into a workflow ID.
func (r *Redactor) Detect(s string) (rule string, found bool) {
	spans := r.detect(s)
	if len(spans) == 0 {
		return "", false
	}
	return spans[0].rule, true
}
