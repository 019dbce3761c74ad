// Package measure says how well redaction works: it makes documents in which it knows every sensitive value and every
// benign one, redacts them, and searches what came out with decoders of its own.
//
// A miss is a planted value of which a part is still readable in the output, as it is or behind any encoding. An
// over-redaction is a benign twin (a number that is no card, an id that is no token) that changed. Everything is drawn from a
// seed, so that a figure can be repeated.
package measure
