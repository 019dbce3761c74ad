package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

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
	case t == reflect.TypeFor[time.Duration](), t.Kind() == reflect.Int, t.Kind() == reflect.String, t.Kind() == reflect.Bool:
		d.leaf(key, node, t)
	case t.Kind() == reflect.Slice:
		items, ok := node.(*ast.SequenceNode)
		if !ok {
			d.complain(key, "must be a list")
			return
		}
		for i, item := range items.Values {
			at := fmt.Sprintf("%s[%d]", key, i)
			d.lines[at] = line(item)
			d.walk(at, item, t.Elem())
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
	case t.Kind() == reflect.Bool && text != "true" && text != "false":
		d.complain(key, "is not true or false")
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
