package redaction

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// document is one parsed JSON text: where its names, strings and numbers stand, and what has to change. Everything between
// the edits is copied as it is.
type document struct {
	raw   string
	nodes []node
	edits []edit
}

type nodeKind uint8

const (
	keyNode    nodeKind = iota // a member name
	stringNode                 // a string
	numberNode                 // a number, as spelled
)

// node is a place in the document that may still have to be searched for copies of removed values. It is small, since a
// document has thousands.
type node struct {
	start, end int32 // in raw, quotes included
	object     int32 // of a key: which object it belongs to
	edit       int32 // its edit's index plus one
	kind       nodeKind
	escaped    bool // the string is not spelled as it reads
}

type editKind uint8

const (
	keyEdit editKind = iota
	stringEdit
	numberEdit
	fieldEdit // a whole value that goes, of any kind
)

// edit is a place that changes.
type edit struct {
	kind             editKind
	start, end       int
	object           int32
	dropped, element bool   // of a field: nothing stands in its place; it is an array's element
	nested           bool   // text is JSON whose inside was redacted already
	rule             string // of a field
	text             string // decoded
	suffix           string // of a key: what keeps it unique
	spans            []span // in text
}

// text is the decoded string, or the number, at a node.
func (d *document) text(n *node) string {
	if n.edit > 0 {
		return d.edits[n.edit-1].text
	}
	raw := d.raw[n.start:n.end]
	switch {
	case n.kind == numberNode:
		return raw
	case !n.escaped:
		return raw[1 : len(raw)-1]
	}
	text, err := unquote(raw)
	if err != nil { // the decoder has read it before
		panic("redaction: a string that was read cannot be read")
	}
	return text
}

// unquote decodes a JSON string. One without escapes shares the document's memory.
func unquote(raw string) (string, error) {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	return string(text), err
}

// editOf returns the edit of a node, which it makes when there is none.
func (d *document) editOf(i int) *edit {
	n := &d.nodes[i]
	if n.edit == 0 {
		kinds := [...]editKind{keyNode: keyEdit, stringNode: stringEdit, numberNode: numberEdit}
		d.edits = append(d.edits, edit{kind: kinds[n.kind], start: int(n.start), end: int(n.end), object: n.object, text: d.text(n)})
		n.edit = int32(len(d.edits))
	}
	return &d.edits[n.edit-1]
}

// cut adds spans to a node.
func (d *document) cut(i int, spans []span) {
	if len(spans) > 0 {
		e := d.editOf(i)
		e.spans = append(e.spans, spans...)
	}
}

// whole replaces all of a node's text.
func (d *document) whole(i int, rule string) {
	e := d.editOf(i)
	e.spans = []span{{start: 0, end: len(e.text), rule: rule}}
}
