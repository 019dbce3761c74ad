package redaction

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
)

// Redactor applies one compiled policy. It is immutable but for its counter, and safe for concurrent use.
type Redactor struct {
	policy      Policy
	fingerprint string
	active      map[string]bool // rules that the presets switch on
	labels      map[string]bool // every rule's name, on or off
	ops         map[string]Operator
	keys        *keyRules
	deny        pathSet
	allow       pathSet
	patterns    []pattern
	literals    []string // in lower case
	urlPaths    []urlPath
	drops       bool // an operator removes members
	dates       bool // any calendar date goes
	always      bool // the policy's own detectors look at every string
	misses      atomic.Int64
}

// pattern is a compiled detector of the user's own.
type pattern struct {
	rule  string
	match *regexp.Regexp
}

// Compile checks every rule of the policy and builds its redactor. A bad rule is a [RuleError]: a policy is used whole or
// not at all.
func Compile(p Policy) (*Redactor, error) {
	p = p.withDefaults()
	if err := p.validate(); err != nil {
		return nil, err
	}
	r := &Redactor{policy: p, labels: presetLabels(), fingerprint: p.fingerprint()}
	for _, step := range []func() error{r.compilePresets, r.compilePaths, r.compileDetectors, r.compileOperators} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Redactor) compilePresets() (err error) {
	if r.active, err = r.policy.activeRules(); err != nil {
		return err
	}
	r.dates = r.active["date"]
	r.keys, err = newKeyRules(r.policy, r.active)
	return err
}

func (r *Redactor) compilePaths() (err error) {
	blame := func(list string, entries []string) func(string, error) error {
		return func(path string, err error) error {
			for i := range entries {
				if entries[i] == path {
					return r.policy.bad(list, i, err)
				}
			}
			return err
		}
	}
	if r.deny, err = newPathSet(r.policy.Paths, blame("paths", r.policy.Paths)); err != nil {
		return err
	}
	var kept []string
	for _, entry := range r.policy.Allow {
		if isPath(entry) {
			kept = append(kept, entry)
		}
	}
	r.allow, err = newPathSet(kept, blame("allow", r.policy.Allow))
	return err
}

func (r *Redactor) compileDetectors() error {
	for i, user := range r.policy.Patterns {
		compiled, err := user.compile(r.labels)
		if err != nil {
			return r.policy.bad("patterns", i, err)
		}
		r.patterns = append(r.patterns, compiled)
		r.labels[user.Name], r.active[user.Name] = true, true
	}
	for i, literal := range r.policy.Literals {
		if len(literal) < minTaint || strings.Contains(placeholderHead, lower(literal)) {
			// The literal may be what has to be kept secret, so the error does not repeat it.
			return r.policy.bad("literals", i, fmt.Errorf("entry %d, allowed are texts of %d bytes or more that no placeholder holds", i+1, minTaint))
		}
		r.literals = append(r.literals, lower(literal))
	}
	for i, template := range r.policy.URLPaths {
		path, err := newURLPath(template)
		if err != nil {
			return r.policy.bad("url_paths", i, err)
		}
		r.urlPaths = append(r.urlPaths, path)
	}
	r.always = len(r.patterns)+len(r.literals) > 0
	return nil
}

func (r *Redactor) compileOperators() (err error) {
	r.ops, err = r.policy.operators(r.labels)
	for _, op := range r.ops {
		r.drops = r.drops || op == OpDrop
	}
	return err
}

func (p Pattern) compile(taken map[string]bool) (pattern, error) {
	if !isRuleName(p.Name) || taken[p.Name] {
		return pattern{}, fmt.Errorf("allowed are unused names of lower-case letters, digits, - and _, at most %d bytes", maxRuleName)
	}
	match, err := regexp.Compile(p.Match)
	if err != nil {
		return pattern{}, err
	}
	if p.Match == "" || match.MatchString("") || match.MatchString(placeholderHead+":") || match.MatchString(placeholderHead+"]") {
		return pattern{}, fmt.Errorf("matches the empty text or %s:, which would remove everything", placeholderHead)
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

// Payload redacts one JSON document. The result is always valid JSON: redacted, or a withheld marker with a [Reason]
// when the input is not understood, too expensive, or still holds a removed value afterwards.
func (r *Redactor) Payload(raw []byte) (redacted Redacted) {
	defer func() {
		if recover() != nil {
			redacted = r.withheld(ReasonPanic)
		}
	}()
	if earlier, ok := r.asMarker(raw); ok {
		return earlier
	}
	if r.policy.Mode == Withhold {
		return r.withheld(ReasonPolicy)
	}
	if len(raw) > r.policy.MaxBytes {
		return r.withheld(ReasonTooLarge)
	}
	rec := r.newRecord()
	defer rec.release()
	out, err := r.redact(raw, rec)
	if err == nil {
		err = r.verify(out, rec)
	}
	if reasonOf(err) == ReasonVerification && out.changed {
		// A value that was part of a word before its neighbour went stands alone now.
		rec.again = true
		if out, err = r.redact(out.bytes, rec); err == nil {
			out.changed = true
			err = r.verify(out, rec)
		}
	}
	if err != nil {
		reason := reasonOf(err)
		if reason == ReasonVerification {
			r.misses.Add(1)
		}
		return r.withheld(reason)
	}
	report := rec.counts.report(r)
	report.Bytes, report.Layers = len(raw), rec.decode.layers
	return Redacted{JSON: out.own(), Report: report}
}

// PolicySHA256 identifies the policy, as in every [Report].
func (r *Redactor) PolicySHA256() string { return r.fingerprint }

// Misses counts the outputs that verification refused: redaction_misses, which has to stay 0. Each was withheld.
func (r *Redactor) Misses() int64 { return r.misses.Load() }

// redact applies all rules until nothing changes any more: what one removes may show another what was hidden behind it.
// A document that does not come to rest is withheld.
func (r *Redactor) redact(source []byte, rec *record) (out output, err error) {
	out = output{bytes: source, text: string(source)}
	for range maxPasses {
		rec.steps = 0
		doc, err := r.parse(out.text, out.bytes, r.root(), 0, rec)
		if err != nil {
			return output{}, err
		}
		if err := r.removeCopies(&doc, rec); err != nil {
			return output{}, err
		}
		if rec.decode.spent {
			return output{}, stop(ReasonDecodeBudget)
		}
		next, err := doc.render(r, rec)
		if err != nil {
			return output{}, err
		}
		if next == nil || string(next) == out.text {
			return out, nil
		}
		out = output{bytes: next, text: string(next), changed: true}
		rec.pass++
	}
	return output{}, stop(ReasonVerification)
}

// output is a document in both forms that its readers want.
type output struct {
	bytes   []byte
	text    string
	changed bool // it is not what came in, and its bytes are our own
}

// own returns bytes that the caller may keep.
func (o output) own() []byte {
	if o.changed {
		return o.bytes
	}
	return bytes.Clone(o.bytes)
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
	if err == nil {
		return ""
	}
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
	if strings.Contains(name, placeholderHead) {
		name = strings.Join(r.between(name), " ")
	}
	return r.keys.match(name)
}

// Detect says whether a detector finds a secret or personal data in s, and names the first one that does. It is what
// refuses a job key that would carry such a value into a workflow ID.
func (r *Redactor) Detect(s string) (rule string, found bool) {
	spans := r.detect(s, "", &decodeBudget{left: r.policy.MaxDecode})
	if len(spans) == 0 {
		return "", false
	}
	return spans[0].rule, true
}
