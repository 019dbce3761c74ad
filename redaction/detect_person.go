package redaction

import (
	"strings"
)

// findEmails finds addresses around each @, also as %40. The last label must be letters, which spares pkg@1.2.3; file
// names such as icon@2x.png and the user of git@host: stay. In a URL, what stands before the host is userinfo.
func findEmails(_ *Redactor, text string, add func(start, end int, rule string)) {
	low := 0 // nothing before it belongs to this address
	authority := false
	for i := 0; i < len(text); i++ {
		size := 1
		switch {
		case strings.HasPrefix(text[i:], "://"):
			authority = true
			i += 2
			continue
		case isSpace(text[i]) || strings.IndexByte("/?#\"<>`", text[i]) >= 0:
			authority = false
		}
		if strings.HasPrefix(text[i:], "%40") {
			size = len("%40")
		} else if text[i] != '@' {
			continue
		}
		start := i
		for start > low && isLocalByte(text[start-1]) {
			start--
		}
		end := domainEnd(text, i+size)
		if start < i && end > 0 && !authority && !isGit(text[start:i], text, end) {
			add(start, end, "email")
		}
		low = i + size
		i = low - 1
	}
}

func isLocalByte(c byte) bool {
	return isAlnum(c) || c >= 0x80 || strings.IndexByte("._%+-", c) >= 0
}

func isGit(local, text string, end int) bool {
	return local == "git" && end < len(text) && text[end] == ':'
}

// domainEnd returns the end of the domain at text[i], or 0 when there is none with a top-level label of letters.
func domainEnd(text string, i int) int {
	end, dot := i, -1
	for end < len(text) && (isAlnum(text[end]) || text[end] >= 0x80 || text[end] == '.' || text[end] == '-') {
		if text[end] == '.' {
			if end == i || text[end-1] == '.' {
				break
			}
			dot = end
		}
		end++
	}
	if dot == end-1 && dot > i { // a full stop that ends the sentence
		end = dot
		dot = strings.LastIndexByte(text[i:end], '.') + i
	}
	if dot <= i || end-dot < 3 {
		return 0
	}
	for _, c := range []byte(text[dot+1 : end]) {
		if !isLetter(c) && c < 0x80 {
			return 0
		}
	}
	if fileSuffixes[lower(text[dot+1:end])] {
		return 0
	}
	return end
}

// fileSuffixes stand behind image@2x. It is never written.
var fileSuffixes = set("png,jpg,jpeg,gif,svg,webp,css,js,mjs,ts,json,html")

// detailShape is how a database's error quotes values: the value starts behind middle, which follows open.
type detailShape struct {
	open, middle string
	closers      []string // what ends it, wherever that is, since a value may hold line breaks
	last         string   // what ends it otherwise, as late on the line as possible, since a value may hold that too
}

// detailShapes of Postgres and MySQL. It is never written.
var detailShapes = []detailShape{
	{open: "Key (", middle: ")=(", closers: []string{") already exists", ") is not present", ") is still referenced", ") conflicts with"}, last: ")"},
	{open: "Failing row contains (", last: ")"},
	{open: "Duplicate entry '", closers: []string{"' for key"}, last: "'"},
}

// findDetails finds the row values that databases quote in their errors; the names of constraints and columns stay.
func findDetails(_ *Redactor, text string, add func(start, end int, rule string)) {
	for _, shape := range detailShapes {
		shape.find(text, add)
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
