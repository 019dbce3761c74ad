// Package redaction turns a job's payload and the texts around its failure into something that may be stored.
//
// A dead letter lives for months, is read by people and is copied into logs, pages and exports. Its payload must keep
// what an operator needs (order ids, amounts, the shape of the document) and lose what nobody may read. This package
// decides that once, from one [Policy], for every place that keeps data. It knows JSON and text, and nothing else.
//
// What it promises:
//
//   - Fail closed. [Redactor.Payload] returns redacted JSON or a withheld marker, never an error beside the original.
//     Input that is not understood (invalid JSON, duplicate keys, too deep, too large, too slow, a bug in here) is withheld.
//   - What no rule touches stays byte-identical: key order, white space, the spelling of 1.10 and of integers above 2^53.
//   - Redacting twice equals redacting once. A placeholder ([redacted:email]) names the rule and carries no data.
//   - The output is parsed and searched again for every value that a rule removed; a hit withholds the whole document.
//   - Reports count; they hold no value, no length and no payload key.
//   - Each byte of input is looked at a bounded number of times, whatever it says.
//
// Rules, from strong to weak: JSONPaths and key names remove a whole value; detectors remove the part of a string (or
// the number) that has the shape of a secret or of personal data, at any place, in keys and in nested JSON as well. A name
// that is allowed lifts key rules only, never a detector.
//
// Error texts, stacks and panic values may echo any payload value in any spelling. [Redactor.Taint] collects what the
// rules removed from a payload, [Redactor.Text] takes it out of a text again: (a) all values of redacted fields, (b) the
// parts of other strings that a detector removed. Plain business values stay readable. A value shorter than 4 bytes, or
// one that is a rule's own name, is removed only when it stands exactly in quotes, since it would shred the text.
//
// What it does not claim: names of people and postal addresses in free text (only key rules and allow-list mode catch
// them), a secret split over several fields, a fragment of a secret that the text cut off, and compressed or
// base64-encoded documents inside strings. Use allow-list or withhold mode where that is not enough.
package redaction
