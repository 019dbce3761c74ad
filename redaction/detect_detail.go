package redaction

import (
	"strings"
)

// detailShape is how a database's error quotes values: the value starts behind middle, which follows open.
type detailShape struct {
	open, middle string
	closers      []string // what ends it, wherever that is, since a value may hold line breaks
	last         string   // what ends it otherwise, as late on the line as possible, since a value may hold that too
}

// detailShapes of Postgres, MySQL, SQL Server and MongoDB, and of parsers that quote what they could not read. It is never
// written.
var detailShapes = []detailShape{
	{open: "Key (", middle: ")=(", closers: []string{") already exists", ") is not present", ") is still referenced", ") conflicts with"}, last: ")"},
	{open: "Failing row contains (", last: ")"},
	{open: "Duplicate entry '", closers: []string{"' for key"}, last: "'"},
	{open: "duplicate key value is (", last: ")"},
	{open: "ncorrect ", middle: " value: '", closers: []string{"' for column"}, last: "'"},
	{open: "input syntax for ", middle: ": \"", last: "\""},
	{open: "input value for enum ", middle: ": \"", last: "\""},
	{open: "parsing \"", closers: []string{"\": invalid syntax", "\": value out of range"}, last: "\""},
	{open: "parsing time \"", closers: []string{"\" as \"", "\": "}, last: "\""},
	{open: "For input string: \"", last: "\""},
	{open: "invalid literal for ", middle: ": '", last: "'"},
	{open: "dup key: {", last: "}"},
}

// quotesDetail is true when a quote or bracket stands behind the end of a word that a shape opens with. It spares nearly all
// texts with quotes the search for every shape.
func quotesDetail(text string) bool {
	for i := 3; i < len(text); i++ {
		if classOf[text[i]]&hasQuote == 0 || text[i-1] != ' ' {
			continue
		}
		switch before := text[i-2]; {
		case before == ':':
			return true
		case text[i] == '(' && (before == 'y' || before == 's'), text[i] == '\'' && before == 'y', text[i] == '"' && (before == 'g' || before == 'e'):
			return true
		}
	}
	return false
}

// findDetails finds the row values that databases quote in their errors; the names of constraints and columns stay.
func (s *scan) findDetails() {
	for _, shape := range detailShapes {
		shape.find(s.text, s.add)
	}
}

func (shape detailShape) find(text string, add func(start, end int, rule string)) {
	lines, middles := cursor{what: "\n"}, cursor{what: shape.middle}
	closers := make([]cursor, len(shape.closers))
	for i, closer := range shape.closers {
		closers[i].what = closer
	}
	for i := 0; ; {
		next := strings.Index(text[i:], shape.open)
		if next < 0 {
			return
		}
		i += next + len(shape.open)
		line := lines.next(text, i)
		if shape.middle != "" {
			middle := middles.next(text, i)
			if middle > line || middle == len(text) {
				continue
			}
			i = middle + len(shape.middle)
		}
		end := len(text)
		for c := range closers {
			end = min(end, closers[c].next(text, i))
		}
		if end == len(text) {
			if last := strings.LastIndex(text[i:max(i, line)], shape.last); last >= 0 {
				end = i + last
			}
		}
		add(i, end, "db-detail")
		i = end
	}
}

// cursor finds what comes next of one literal. It remembers the answer, so that many questions cost one pass.
type cursor struct {
	what  string
	at    int
	known bool
}

// next returns the first place at or behind from, or the text's length. Positions asked for only grow.
func (c *cursor) next(text string, from int) int {
	if !c.known || c.at < from {
		c.at, c.known = indexFrom(text, c.what, from), true
	}
	return c.at
}
