package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// document is a file while it is read: where each setting stands, and what is wrong.
type document struct {
	name      string
	lines     map[string]int    // by key, such as policies.default.lease
	variables map[string]string // by key: the variable that replaced the file's value
	found     []error
}

// complain records a complaint about key. When the file does not hold key itself, the next one above it has the line.
func (d *document) complain(key, format string, args ...any) {
	complaint := &Error{Key: key, Variable: d.variables[key], Reason: fmt.Sprintf(format, args...)}
	for above := key; above != "" && complaint.Line == 0; above = parent(above) {
		complaint.Line = d.lines[above]
	}
	if complaint.Line > 0 {
		complaint.File = d.name
	}
	d.found = append(d.found, complaint)
}

func (d *document) complaints() error { return errors.Join(d.found...) }

func parent(key string) string { return key[:max(strings.LastIndexByte(key, '.'), 0)] }

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// decode reads source into s. The tree is checked first, since the decoder's own errors quote values and stop early.
func (d *document) decode(source []byte, s *Settings) error {
	if len(bytes.TrimSpace(source)) == 0 {
		return nil
	}
	file, err := parser.ParseBytes(source, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return d.malformed(err)
	}
	if len(file.Docs) > 1 {
		return &Error{File: d.name, Reason: "more than one YAML document, one is allowed"}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil
	}
	d.walk("", file.Docs[0].Body, reflect.TypeOf(*s))
	if err := d.complaints(); err != nil {
		return err
	}
	if err := yaml.NodeToValue(file.Docs[0].Body, s, yaml.Strict()); err != nil && !errors.Is(err, yaml.ErrNotFoundNode) {
		return d.malformed(err)
	}
	return nil
}

// malformed keeps the place and the parser's fixed text of an error, and never the source beside it.
func (d *document) malformed(err error) error {
	complaint := &Error{File: d.name, Reason: "not valid YAML"}
	var placed yaml.Error
	if !errors.As(err, &placed) {
		return complaint
	}
	if token := placed.GetToken(); token != nil && token.Position != nil {
		complaint.Line = token.Position.Line
	}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		text, _, _ := strings.Cut(syntax.Message, `"`) // what it quotes is from the file
		complaint.Reason += ": " + strings.TrimSpace(text)
	}
	return complaint
}

// walk checks a node against the Go type it will be decoded into.
func (d *document) walk(key string, node ast.Node, t reflect.Type) {
	if anchor, ok := node.(*ast.AnchorNode); ok {
		node = anchor.Value
	}
	switch node.(type) {
	case *ast.AliasNode, *ast.NullNode, *ast.CommentGroupNode:
		return
	}
	switch {
	case t == reflect.TypeFor[time.Duration](), t.Kind() == reflect.Int, t.Kind() == reflect.String:
		d.leaf(key, node, t)
	case t.Kind() == reflect.Slice:
		items, ok := node.(*ast.SequenceNode)
		if !ok {
			d.complain(key, "must be a list")
			return
		}
		for i, item := range items.Values {
			d.walk(fmt.Sprintf("%s[%d]", key, i), item, t.Elem())
		}
	default:
		d.mapping(key, node, t)
	}
}

func (d *document) mapping(key string, node ast.Node, t reflect.Type) {
	entries, ok := node.(*ast.MappingNode)
	if !ok {
		where := key
		if where == "" {
			d.found = append(d.found, &Error{File: d.name, Line: line(node), Reason: "must be a mapping of names to settings"})
			return
		}
		d.complain(where, "must be a mapping of names to settings")
		return
	}
	for _, entry := range entries.Values {
		if entry.Key.IsMergeKey() {
			continue
		}
		name := entry.Key.GetToken().Value
		at := join(key, name)
		if _, twice := d.lines[at]; twice {
			d.found = append(d.found, &Error{File: d.name, Line: line(entry.Key), Key: at, Reason: "is given twice"})
			continue
		}
		d.lines[at] = line(entry.Key)
		child, known := childType(t, name)
		if !known {
			d.complain(at, "unknown key, allowed are %s", strings.Join(names(t), ", "))
			continue
		}
		d.walk(at, entry.Value, child)
	}
}

// leaf checks one number or text. A zero is refused: it would silently mean the default.
func (d *document) leaf(key string, node ast.Node, t reflect.Type) {
	scalar, ok := node.(ast.ScalarNode)
	if !ok {
		d.complain(key, "must be a single value")
		return
	}
	text := scalar.GetToken().Value
	switch {
	case t == reflect.TypeFor[time.Duration]():
		if value, err := time.ParseDuration(text); err != nil {
			d.complain(key, "is not a duration such as 30s, 15m or 720h")
		} else if value == 0 {
			d.complain(key, "is 0; leave it out for the default")
		}
	case t.Kind() == reflect.Int:
		if value, err := strconv.Atoi(text); err != nil {
			d.complain(key, "is not a whole number")
		} else if value == 0 {
			d.complain(key, "is 0; leave it out for the default")
		}
	case t.Kind() == reflect.String && !isText(node):
		d.complain(key, "is not text; put it in quotes (1.10 would become 1.1)")
	}
}

func isText(node ast.Node) bool {
	switch node.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return true
	}
	return false
}

// childType returns the type of an entry, and whether t knows it.
func childType(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for i := range t.NumField() {
		if tag(t.Field(i)) == name {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

// names returns what t knows, in the order of the documentation.
func names(t reflect.Type) []string {
	var all []string
	for i := range t.NumField() {
		if name := tag(t.Field(i)); name != "-" {
			all = append(all, name)
		}
	}
	return slices.Clip(all)
}

func tag(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	return name
}

func line(node ast.Node) int { return node.GetToken().Position.Line }
