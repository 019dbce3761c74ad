package redaction

import (
	"cmp"
	"encoding/json"
	"slices"
)

// EngineVersion names the behaviour of this package. It rises when the same policy may give another output.
const EngineVersion = "2"

// Redacted is a payload that may be stored: always valid JSON, with the counts of what was taken out.
type Redacted struct {
	JSON   json.RawMessage
	Report Report
}

// Report says how much was removed and by which rules. It holds counts only: no value, no value's length, no payload key.
type Report struct {
	// Fields counts whole values that were replaced: by a key rule, by a path, or because they are not listed.
	Fields int
	// Values counts the parts of strings, the numbers and the key names that were replaced by a detector.
	Values int
	// ByRule splits both counts by the rule's name, the one in the placeholder.
	ByRule map[string]int
	// Counts splits them by rule, surface and operator, in that order.
	Counts []Count
	// Bytes is how much was looked into, and Layers how many encodings were opened on the way.
	Bytes, Layers int
	// Withheld is true when the whole payload was replaced by a marker; Reason then says why, a cap among others.
	Withheld bool
	Reason   Reason
	// Policy is the SHA-256 of the policy that was applied, and Engine the version of this package's behaviour.
	Policy, Engine string
}

// Count is how often a rule removed something from a surface, and what it left there.
type Count struct {
	Rule     string   `json:"rule"`
	Surface  Surface  `json:"surface"`
	Operator Operator `json:"operator"`
	N        int      `json:"n"`
}

// Surface is where a removed value stood.
type Surface string

// The surfaces.
const (
	SurfaceField  Surface = "field"  // the whole value of a member or an element
	SurfaceString Surface = "string" // a part of a string
	SurfaceNested Surface = "nested" // JSON inside a string
	SurfaceNumber Surface = "number"
	SurfaceKey    Surface = "key" // a member's name
	SurfaceText   Surface = "text"
)

// AllSurfaces returns every surface.
func AllSurfaces() []Surface {
	return []Surface{SurfaceField, SurfaceString, SurfaceNested, SurfaceNumber, SurfaceKey, SurfaceText}
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
	ReasonTooMany      Reason = "too_many_tokens"
	ReasonDecodeBudget Reason = "decode_budget" // more encoded text than may be looked into
	ReasonWorkBudget   Reason = "work_budget"   // removed values that are made to be slow to search for
	ReasonTimeBudget   Reason = "time_budget"
	ReasonPanic        Reason = "panic"        // a bug in this package
	ReasonVerification Reason = "verification" // the output still held a removed value: a bug, or a hostile document
)

// AllReasons returns every reason.
func AllReasons() []Reason {
	return []Reason{
		ReasonPolicy, ReasonInvalidJSON, ReasonDuplicateKey, ReasonInvalidUTF8, ReasonTooDeep, ReasonTooLarge, ReasonTooMany,
		ReasonDecodeBudget, ReasonWorkBudget, ReasonTimeBudget, ReasonPanic, ReasonVerification,
	}
}

// withheld is the only shape a payload takes that could not be redacted.
func (r *Redactor) withheld(reason Reason) Redacted {
	return Redacted{JSON: marker(reason), Report: Report{Withheld: true, Reason: reason, Policy: r.fingerprint, Engine: EngineVersion}}
}

func marker(reason Reason) json.RawMessage {
	return json.RawMessage(`{"redrive":"withheld","reason":"` + string(reason) + `"}`)
}

// asMarker recognises our own marker, so that a record that is redacted again keeps its reason in every mode.
func (r *Redactor) asMarker(raw []byte) (Redacted, bool) {
	if len(raw) > 80 {
		return Redacted{}, false
	}
	for _, reason := range AllReasons() {
		if string(raw) == string(marker(reason)) {
			return r.withheld(reason), true
		}
	}
	return Redacted{}, false
}

// tally collects the counts of one record.
type tally map[Count]int

func (t tally) add(r *Redactor, rule string, surface Surface) {
	op := r.ops[rule]
	if op == "" {
		op = OpClass
	}
	t[Count{Rule: rule, Surface: surface, Operator: op}]++
}

// report sorts the counts, so that equal payloads have equal reports.
func (t tally) report(r *Redactor) Report {
	report := Report{Policy: r.fingerprint, Engine: EngineVersion}
	for count, n := range t {
		if report.ByRule == nil {
			report.ByRule = map[string]int{}
		}
		report.ByRule[count.Rule] += n
		if count.Surface == SurfaceField {
			report.Fields += n
		} else {
			report.Values += n
		}
		count.N = n
		report.Counts = append(report.Counts, count)
	}
	slices.SortFunc(report.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Surface, b.Surface), cmp.Compare(a.Operator, b.Operator))
	})
	return report
}
