package redaction

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// document is one parsed JSON text: what may have to be replaced, by its place in the raw bytes. Everything between is
// copied as it is.
type document struct {
	raw    string
	leaves []leaf
}

// leafKind is what stands at a leaf's place.
type leafKind int

const (
	keyLeaf    leafKind = iota // a member name
	stringLeaf                 // a string
	numberLeaf                 // a number, as spelled
	fieldLeaf                  // a whole value that goes, of any kind
)

// leaf is a place in the document that a rule may replace.
type leaf struct {
	kind       leafKind
	start, end int    // in raw, quotes included
	object     int    // of a key: which object it belongs to
	suffix     string // of a key: what keeps it unique
	text       string // decoded
	nested     bool   // text is JSON whose inside was redacted already
	rewritten  bool   // and something went
	rule       string // of a field
	spans      []span // in text
}

// finding is a value that a rule removes: what Taint collects and what verification searches for.
type finding struct {
	rule   string
	text   string
	number bool
	global bool // also removed where it is repeated elsewhere in the payload
}

// context is what a node inherits from the way down to it.
type context struct {
	depth     int
	field     string // the rule that removes the whole value around this node
	described string // the rule of a described key above: only plain values stay
	listed    bool   // kept in allow-list mode
	deny      pathState
	allow     pathState
}

// stop carries the reason for withholding up through the walk.
type stop Reason

func (s stop) Error() string { return string(s) }

// walk reads a document once and decides about every node. It collects findings for the whole record.
type walk struct {
	r       *Redactor
	dec     *jsontext.Decoder
	doc     document
	nesting int // JSON inside strings
	objects int
	record  *record
}

// parse walks one JSON text. The error is a stop.
func (r *Redactor) parse(raw string, at context, nesting int, rec *record) (document, error) {
	if !utf8.ValidString(raw) {
		return document{}, stop(ReasonInvalidUTF8)
	}
	w := &walk{r: r, dec: jsontext.NewDecoder(bytes.NewBufferString(raw)), doc: document{raw: raw}, nesting: nesting, record: rec}
	if err := w.value(at, keyMatch{}); err != nil {
		return document{}, asStop(err)
	}
	if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return document{}, stop(ReasonInvalidJSON)
	}
	return w.doc, nil
}

// asStop maps a decoder's error to a reason. Its text names keys of the payload and goes nowhere.
func asStop(err error) error {
	var s stop
	switch {
	case errors.As(err, &s):
		return s
	case errors.Is(err, jsontext.ErrDuplicateName):
		return stop(ReasonDuplicateKey)
	}
	return stop(ReasonInvalidJSON)
}

// value reads the next value under the verdict of its key.
func (w *walk) value(at context, key keyMatch) error {
	if err := w.record.spend(); err != nil {
		return err
	}
	kind := w.dec.PeekKind()
	start := w.next()
	entered := at.field == "" && !w.isPlaceholder(start) // this node may open a field
	if entered {
		at.field, at.described = w.decide(at, key, kind)
	}
	var err error
	switch kind {
	case '{':
		err = w.object(at)
	case '[':
		err = w.array(at)
	default:
		err = w.scalar(at)
	}
	if err == nil && entered && at.field != "" {
		w.doc.leaves = append(w.doc.leaves, leaf{kind: fieldLeaf, start: start, end: int(w.dec.InputOffset()), rule: at.field})
	}
	return err
}

// isPlaceholder is true for a value that an earlier redaction replaced; it keeps the rule it had then.
func (w *walk) isPlaceholder(start int) bool {
	if !strings.HasPrefix(w.doc.raw[start:], `"`+placeholderHead) {
		return false
	}
	end := w.r.placeholderEnd(w.doc.raw, start+1)
	return end > 0 && strings.HasPrefix(w.doc.raw[end:], `"`)
}

// next is the offset of the next value: the decoder stands after the last token, before white space and punctuation.
func (w *walk) next() int {
	i := int(w.dec.InputOffset())
	for i < len(w.doc.raw) && strings.IndexByte(" \t\r\n,:", w.doc.raw[i]) >= 0 {
		i++
	}
	return i
}

// decide says whether the whole value goes: paths first, then the key, then the list of what is kept.
func (w *walk) decide(at context, key keyMatch, kind jsontext.Kind) (field, about string) {
	lifted := w.r.allow.selected(at.allow)
	switch {
	case w.r.deny.selected(at.deny):
		return rulePath, ""
	case lifted:
		return "", at.described
	case key.level == sensitive && !(key.plural && kind == '0'):
		return key.rule, ""
	case key.level == counted && kind != '0' && kind != 't' && kind != 'f' && kind != 'n':
		return key.rule, ""
	case key.level == described:
		at.described = key.rule
	}
	container := kind == '{' || kind == '['
	if w.r.policy.Mode == AllowList && !at.listed && !(container && w.r.allow.alive(at.allow)) {
		return ruleUnlisted, ""
	}
	return "", at.described
}

func (w *walk) object(at context) error {
	if err := w.enter(&at); err != nil {
		return err
	}
	object := w.objects
	w.objects++
	for w.dec.PeekKind() != '}' {
		raw, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		name, err := w.text(len(raw))
		if err != nil {
			return err
		}
		end := int(w.dec.InputOffset())
		below := w.descend(at, &name, 0)
		redacted := w.key(below, leaf{kind: keyLeaf, start: end - len(raw), end: end, object: object, text: name})
		match := keyMatch{}
		if at.field == "" {
			match = w.record.matchKey(w.r, name)
		}
		if left := w.record.matchKey(w.r, redacted); at.field == "" && left.level > match.level {
			match = left // what is left of the name reads more sensitive than the whole
		}
		if err := w.value(below, match); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

func (w *walk) array(at context) error {
	if err := w.enter(&at); err != nil {
		return err
	}
	for index := 0; w.dec.PeekKind() != ']'; index++ {
		if err := w.value(w.descend(at, nil, index), keyMatch{}); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// enter reads the opening bracket and counts the depth.
func (w *walk) enter(at *context) error {
	at.depth++
	if at.depth > w.r.policy.MaxDepth {
		return stop(ReasonTooDeep)
	}
	_, err := w.dec.ReadToken()
	return err
}

// descend is the context of a member or an element.
func (w *walk) descend(at context, name *string, index int) context {
	if at.field != "" {
		return at
	}
	at.deny = w.r.deny.child(at.deny, name, index)
	at.allow = w.r.allow.child(at.allow, name, index)
	at.listed = at.listed || w.r.allow.selected(at.allow)
	return at
}

// key keeps a member name for the detectors. In allow-list mode a name that leads to nothing listed is data and goes;
// inside a removed field it is tainted when it looks like more than a name. It returns what the name becomes.
func (w *walk) key(below context, l leaf) string {
	switch {
	case below.field != "":
		if len(l.text) >= 8 && (strings.ContainsAny(l.text, "0123456789") || len(w.r.detect(l.text)) > 0) {
			w.record.find(below.field, l.text, false)
		}
		return l.text
	case w.r.policy.Mode == AllowList && !below.listed && !w.leadsOn(below):
		l.spans = []span{{start: 0, end: len(l.text), rule: ruleUnlisted}}
	default:
		l.spans = w.r.detect(l.text)
		w.record.findSpans(l.text, l.spans, false)
	}
	w.doc.leaves = append(w.doc.leaves, l)
	return splice(l.text, l.spans)
}

func (w *walk) leadsOn(below context) bool {
	kind := w.dec.PeekKind()
	return (kind == '{' || kind == '[') && w.r.allow.alive(below.allow)
}

func (w *walk) scalar(at context) error {
	raw, err := w.dec.ReadValue()
	if err != nil {
		return err
	}
	end := int(w.dec.InputOffset())
	l := leaf{kind: stringLeaf, start: end - len(raw), end: end}
	switch raw.Kind() {
	case '"':
		if l.text, err = w.text(len(raw)); err != nil {
			return err
		}
		return w.str(at, l)
	case '0':
		l.kind, l.text = numberLeaf, w.doc.raw[l.start:l.end]
		w.number(at, l)
	}
	return nil
}

// text decodes the string that the decoder has just read. One without escapes shares the document's memory.
func (w *walk) text(size int) (string, error) {
	end := int(w.dec.InputOffset())
	quoted := w.doc.raw[end-size : end]
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	return string(text), err
}

func (w *walk) str(at context, l leaf) error {
	nested, rendered, err := w.nested(at, l.text)
	switch {
	case err != nil:
		return err
	case at.field != "":
		w.record.find(at.field, l.text, false)
		return nil
	case nested:
		l.nested, l.rewritten = true, rendered != l.text
		l.text = rendered
	case at.described != "" && !plainWord(l.text):
		l.spans = []span{{start: 0, end: len(l.text), rule: at.described}}
		w.record.find(at.described, l.text, false)
	default:
		l.spans = w.r.detect(l.text)
		w.record.findSpans(l.text, l.spans, false)
	}
	w.doc.leaves = append(w.doc.leaves, l)
	return nil
}

func (w *walk) number(at context, l leaf) {
	if at.field != "" {
		w.record.find(at.field, l.text, true)
		return
	}
	if spans := w.r.detectNumber(l.text); len(spans) > 0 {
		l.spans = []span{{start: 0, end: len(l.text), rule: spans[0].rule}}
		w.record.findSpans(l.text, l.spans, true)
	}
	w.doc.leaves = append(w.doc.leaves, l)
}
