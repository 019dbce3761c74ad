// Package redaction turns a job's payload and the texts around its failure into something that may be stored.
//
// A dead letter lives for months, is read by people and is copied into logs, pages and exports. Its payload must keep
// what an operator needs (order ids, amounts, the shape of the document) and lose what nobody may read. This package
// decides that once, from one [Policy], for every place that keeps data. It knows JSON and text, and nothing else.
//
// What it promises:
//
//   - Fail closed. [Redactor.Payload] returns redacted JSON or a withheld marker, never an error beside the original.
//     Input that is not understood (invalid JSON, duplicate names, too deep, too large, too slow, a bug in here) is withheld.
//   - What no rule touches stays byte-identical: key order, white space, the spelling of 1.10 and of integers above 2^53.
//   - Redacting twice equals redacting once. A placeholder ([redacted:email]) names the rule and has one length per rule.
//   - The output is read and searched again, by code of its own, for every value that a rule removed and for the plainest
//     secrets; a hit withholds the whole document and is counted ([Redactor.Misses]).
//   - Reports count; they hold no value, no value's length and no payload key.
//   - Each byte of input is looked at a bounded number of times, whatever it says.
//
// Rules, from strong to weak: JSONPaths and key names remove a whole value; detectors remove the part of a string (or
// the number) that has the shape of a secret or of personal data, at any place, in keys, in nested JSON and behind encodings
// as well. A name that is allowed lifts key rules only, never a detector.
//
// The way through one payload: walk.go reads the tokens and decides about names and paths, detect.go starts the detectors
// that a first look at a string calls for, copies.go removes what was found once wherever it is repeated, record.go writes
// the edits into the raw bytes, and verify.go looks again.
//
// Error texts, stacks and panic values may echo any payload value in any spelling. [Redactor.Taint] collects what the
// rules removed from a payload, [Redactor.Text] takes it out of a text again: (a) all values of redacted fields, (b) the
// parts of other strings that a detector removed. Plain business values stay readable. A value shorter than 4 bytes, or
// one that is a rule's own name, is removed only when it stands exactly in quotes, since it would shred the text.
//
// What it does not claim: names of people and postal addresses in free text (only key rules and allow-list mode catch
// them), a secret split over several members, and a fragment of a secret that the text cut off. Use allow-list or withhold
// mode where that is not enough. docs/redaction.md has the whole list, with what was measured.
package redaction
