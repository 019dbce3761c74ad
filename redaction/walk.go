package redaction

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// context is what a node inherits from the way down to it.
type context struct {
	depth     int
	field     string // the rule that removes the whole value around this node
	described string // the rule of a described key above: only plain values stay
	hint      string // the name of the member around this node
	listed    bool   // kept in allow-list mode
	element   bool   // this node is an array's element
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
	objects int32
	record  *record
}

// parse walks one JSON text. The decoder reads the bytes of raw, given beside it when the caller has them. The error is a
// stop.
func (r *Redactor) parse(raw string, source []byte, at context, nesting int, rec *record) (document, error) {
	w := &walk{r: r, doc: document{raw: raw, nodes: rec.nodesFor(raw, nesting)}, nesting: nesting, record: rec}
	w.dec = r.decoder(raw, source)
	err := w.value(&at, keyMatch{})
	if err == nil {
		if _, err = w.dec.ReadToken(); errors.Is(err, io.EOF) {
			rec.keep(nesting, w.doc.nodes)
			return w.doc, nil
		} else if err == nil {
			err = stop(ReasonInvalidJSON)
		}
	}
	return document{}, asStop(err, raw)
}

// decoder reads source, or a copy of raw. It does not write to its buffer.
func (r *Redactor) decoder(raw string, source []byte) *jsontext.Decoder {
	if source == nil {
		source = []byte(raw)
	}
	return jsontext.NewDecoder(bytes.NewBuffer(source), jsontext.AllowDuplicateNames(r.policy.DuplicateKeys == ScrubAll))
}

// asStop maps a decoder's error to a reason. Its text names keys of the payload and goes nowhere.
func asStop(err error, raw string) error {
	var s stop
	switch {
	case errors.As(err, &s):
		return s
	case errors.Is(err, jsontext.ErrDuplicateName):
		return stop(ReasonDuplicateKey)
	case !utf8.ValidString(raw):
		return stop(ReasonInvalidUTF8)
	}
	return stop(ReasonInvalidJSON)
}

// value reads the next value under the verdict of its key.
func (w *walk) value(at *context, key keyMatch) error {
	if err := w.record.spend(); err != nil {
		return err
	}
	start, kind := w.peek()
	entered := at.field == "" && !w.isPlaceholder(start) // this node may open a field
	if entered {
		at.field, at.described = w.decide(at, key, kind)
		if at.field == "person-name" && kind == '"' && isRepository(w.doc.raw[start:]) {
			at.field = ""
		}
	}
	var err error
	switch kind {
	case '{':
		err = w.object(*at)
	case '[':
		err = w.array(*at)
	default:
		err = w.scalar(at, start)
	}
	if err == nil && entered && at.field != "" {
		w.doc.edits = append(w.doc.edits, edit{
			kind: fieldEdit, start: start, end: int(w.dec.InputOffset()), rule: at.field, element: at.element, dropped: w.r.ops[at.field] == OpDrop,
		})
	}
	return err
}

// isRepository is true for owner/name, which code hosts call a full name.
func isRepository(raw string) bool {
	slashes := 0
	for i := 1; i < len(raw) && raw[i] != '"'; i++ {
		switch {
		case raw[i] == '/':
			slashes++
		case !isAlnum(raw[i]) && !indexByte("-_.", raw[i]):
			return false
		}
	}
	return slashes == 1
}

// isPlaceholder is true for a value that an earlier redaction replaced; it keeps the rule it had then.
func (w *walk) isPlaceholder(start int) bool {
	if !strings.HasPrefix(w.doc.raw[start:], `"`+placeholderHead) {
		return false
	}
	end := w.r.placeholderEnd(w.doc.raw, start+1)
	return end > 0 && strings.HasPrefix(w.doc.raw[end:], `"`)
}

// peek is the place of the next token and its first byte, '0' for every number. The decoder stands after the last token,
// before white space and punctuation; whether those are right it says itself when the token is read.
func (w *walk) peek() (start int, kind byte) {
	for i := int(w.dec.InputOffset()); i < len(w.doc.raw); i++ {
		switch c := w.doc.raw[i]; c {
		case ',', ':', ' ', '\n', '\t', '\r':
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return i, '0'
		default:
			return i, c
		}
	}
	return len(w.doc.raw), 0
}

// decide says whether the whole value goes: paths first, then the key, then the list of what is kept.
func (w *walk) decide(at *context, key keyMatch, kind byte) (field, about string) {
	if key.level == harmless && len(w.r.deny)+len(w.r.allow) == 0 && w.r.policy.Mode != AllowList {
		return "", at.described
	}
	about = at.described
	lifted := w.r.allow.selected(at.allow)
	switch {
	case w.r.deny.selected(at.deny):
		return rulePath, ""
	case lifted:
		return "", about
	case key.level == sensitive && !(key.plural && kind == '0'):
		return key.rule, ""
	case key.level == counted && kind != '0' && kind != 't' && kind != 'f' && kind != 'n':
		return key.rule, ""
	case key.level == described:
		about = key.rule
	}
	container := kind == '{' || kind == '['
	if w.r.policy.Mode == AllowList && !at.listed && !(container && w.r.allow.alive(at.allow)) {
		return ruleUnlisted, ""
	}
	return "", about
}

func (w *walk) object(at context) error {
	if err := w.enter(&at); err != nil {
		return err
	}
	object := w.objects
	w.objects++
	var dropped members
	for {
		start, kind := w.peek()
		if kind == '}' {
			break
		}
		if _, err := w.dec.ReadToken(); err != nil {
			return err
		}
		end := int(w.dec.InputOffset())
		known, err := w.record.known(w.r, w.doc.raw[start+1:end-1])
		if err != nil {
			return err
		}
		below := w.descend(&at, &known.name, 0)
		below.hint = ""
		if known.context {
			below.hint = known.name
		}
		match := w.key(&below, node{kind: keyNode, start: int32(start), end: int32(end), object: object, escaped: len(known.name) != end-start-2}, known)
		if err := w.value(&below, match); err != nil {
			return err
		}
		if w.r.drops {
			dropped.add(&w.doc, start, int(w.dec.InputOffset()))
		}
	}
	dropped.cut(&w.doc)
	_, err := w.dec.ReadToken()
	return err
}

func (w *walk) array(at context) error {
	if err := w.enter(&at); err != nil {
		return err
	}
	first, index := len(w.doc.nodes), 0
	scalars := true
	for ; ; index++ {
		_, kind := w.peek()
		if kind == ']' {
			break
		}
		scalars = scalars && (kind == '"' || kind == '0')
		below := w.descend(&at, nil, index)
		below.element = true
		if err := w.value(&below, keyMatch{}); err != nil {
			return err
		}
	}
	if scalars && at.field == "" && index > 1 && len(w.doc.nodes)-first == index {
		w.join(first)
	}
	_, err := w.dec.ReadToken()
	return err
}

// enter reads the opening bracket and counts the depth.
func (w *walk) enter(at *context) error {
	at.depth++
	at.element = false
	if at.depth > w.r.policy.MaxDepth {
		return stop(ReasonTooDeep)
	}
	_, err := w.dec.ReadToken()
	return err
}

// descend is the context of a member or an element.
func (w *walk) descend(from *context, name *string, index int) context {
	at := *from
	if at.field != "" || len(w.r.deny)+len(w.r.allow) == 0 {
		return at
	}
	at.deny = w.r.deny.child(at.deny, name, index)
	at.allow = w.r.allow.child(at.allow, name, index)
	at.listed = at.listed || w.r.allow.selected(at.allow)
	return at
}

// key keeps a member name for the detectors. In allow-list mode a name that leads to nothing listed is data and goes;
// inside a removed field it is tainted when it looks like more than a name. It returns the verdict about the value.
func (w *walk) key(below *context, n node, known *knownKey) keyMatch {
	name := known.name
	if below.field != "" {
		if len(name) >= 8 && (strings.ContainsAny(name, "0123456789") || len(known.spans) > 0) {
			w.record.find(below.field, name, false)
		}
		return keyMatch{}
	}
	w.doc.nodes = append(w.doc.nodes, n)
	spans := known.spans
	if w.r.policy.Mode == AllowList && !below.listed && !w.leadsOn(below) {
		spans = []span{{start: 0, end: len(name), rule: ruleUnlisted}}
	} else {
		w.record.findSpans(name, spans, false)
	}
	if len(spans) == 0 {
		return known.match
	}
	w.doc.cut(len(w.doc.nodes)-1, spans)
	if left := w.r.matchKey(w.r.splice(name, spans)); left.level > known.match.level {
		return left // what is left of the name reads more sensitive than the whole
	}
	return known.match
}

func (w *walk) leadsOn(below *context) bool {
	_, kind := w.peek()
	return (kind == '{' || kind == '[') && w.r.allow.alive(below.allow)
}

func (w *walk) scalar(at *context, start int) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	end := int(w.dec.InputOffset())
	switch c := w.doc.raw[start]; {
	case c == '"':
		return w.str(at, start, end)
	case c == '-' || isDigit(c):
		w.number(at, start, end)
	}
	return nil
}

func (w *walk) str(at *context, start, end int) error {
	text, err := unquote(w.doc.raw[start:end])
	if err != nil {
		return err
	}
	nested, rendered, err := w.nested(at, text)
	if err != nil {
		return err
	}
	if at.field != "" {
		w.record.find(at.field, text, false)
		return nil
	}
	w.doc.nodes = append(w.doc.nodes, node{kind: stringNode, start: int32(start), end: int32(end), escaped: len(text) != end-start-2})
	i := len(w.doc.nodes) - 1
	switch {
	case nested:
		if rendered != text {
			e := w.doc.editOf(i)
			e.nested, e.text = true, rendered
		}
	case at.described != "" && !plainWord(text):
		w.record.find(at.described, text, false)
		w.doc.whole(i, at.described)
	default:
		spans := w.detect(text, at.hint)
		w.record.findSpans(text, spans, false)
		w.doc.cut(i, spans)
	}
	return nil
}

// detect leaves it to the next pass over the document to look at what is left of a string, unless passes do not come to an
// end.
func (w *walk) detect(text, hint string) []span {
	if w.record.pass > 1 {
		return w.r.detect(text, hint, &w.record.decode)
	}
	return w.r.detectOnce(text, hint, &w.record.decode, 0)
}

func (w *walk) number(at *context, start, end int) {
	text := w.doc.raw[start:end]
	if at.field != "" {
		w.record.find(at.field, text, true)
		return
	}
	w.doc.nodes = append(w.doc.nodes, node{kind: numberNode, start: int32(start), end: int32(end)})
	if spans := w.r.detectNumber(text, at.hint); len(spans) > 0 {
		w.record.findSpans(text, spans, true)
		w.doc.whole(len(w.doc.nodes)-1, spans[0].rule)
	}
}
