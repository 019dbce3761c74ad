package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
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

// decode reads source into c. The tree is checked first, since the decoder's own errors quote values and stop early.
func (d *document) decode(source []byte, c *Config) error {
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
	d.walk("", file.Docs[0].Body, reflect.TypeFor[Config]())
	if err := d.complaints(); err != nil {
		return err
	}
	if err := yaml.NodeToValue(file.Docs[0].Body, c, yaml.Strict()); err != nil && !errors.Is(err, yaml.ErrNotFoundNode) {
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
