package redaction

import (
	"encoding/json"
)

// Redacted is a payload that may be stored: always valid JSON, with the counts of what was taken out.
type Redacted struct {
	JSON   json.RawMessage
	Report Report
}

// Report says how much was removed and by which rules. It holds counts only: no value, no length, no payload key.
type Report struct {
	// Fields counts whole values that were replaced: by a key rule, by a path, or because they are not listed.
	Fields int
	// Values counts the parts of strings, the numbers and the key names that were replaced by a detector.
	Values int
	// ByRule splits both counts by the rule's name, the one in the placeholder.
	ByRule map[string]int
	// Withheld is true when the whole payload was replaced by a marker; Reason then says why.
	Withheld bool
	Reason   Reason
}

// Reason is why a payload was withheld.
type Reason string

// The reasons: a closed list, safe to store and to use as a metric label.
const (
	ReasonPolicy       Reason = "policy"        // the policy withholds every payload
	ReasonInvalidJSON  Reason = "invalid_json"  // a syntax error, a lone surrogate, nothing, or more than one value
	ReasonDuplicateKey Reason = "duplicate_key" // readers disagree about which of the two counts
	ReasonInvalidUTF8  Reason = "invalid_utf8"
	ReasonTooDeep      Reason = "too_deep"
	ReasonTooLarge     Reason = "too_large"
	ReasonTimeBudget   Reason = "time_budget"
	ReasonPanic        Reason = "panic"        // a bug in this package
	ReasonVerification Reason = "verification" // the output still held a removed value: a bug, or a hostile document
)

// AllReasons returns every reason.
func AllReasons() []Reason {
	return []Reason{
		ReasonPolicy, ReasonInvalidJSON, ReasonDuplicateKey, ReasonInvalidUTF8, ReasonTooDeep, ReasonTooLarge,
		ReasonTimeBudget, ReasonPanic, ReasonVerification,
	}
}

// withheld is the only shape a payload takes that could not be redacted.
func withheld(reason Reason) Redacted {
	return Redacted{JSON: marker(reason), Report: Report{Withheld: true, Reason: reason}}
}

func marker(reason Reason) json.RawMessage {
	return json.RawMessage(`{"redrive":"withheld","reason":"` + string(reason) + `"}`)
}

// asMarker recognises our own marker, so that a record that is redacted again keeps its reason in every mode.
func asMarker(raw []byte) (Redacted, bool) {
	for _, reason := range AllReasons() {
		if string(raw) == string(marker(reason)) {
			return withheld(reason), true
		}
	}
	return Redacted{}, false
}

func (r *Report) count(rule string) {
	if r.ByRule == nil {
		r.ByRule = map[string]int{}
	}
	r.ByRule[rule]++
}
