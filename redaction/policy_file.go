package redaction

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// RuleError is a rule that does not compile. A policy is used whole or not at all.
type RuleError struct {
	// List is the policy's key that holds the rule.
	List string
	// Index is the rule's place in the list, from 0; -1 when List is no list.
	Index int
	// Rule is the rule as written.
	Rule string
	// Line is where the rule stands in its file, from 1; 0 when there is no file.
	Line int
	// Err says what is wrong with it.
	Err error
}

// Error names the line, the list and the rule.
func (e *RuleError) Error() string {
	where := "redaction policy: "
	if e.Line > 0 {
		where = fmt.Sprintf("redaction policy: line %d: ", e.Line)
	}
	return where + e.List + ": " + e.Reason()
}

// Reason names the rule and says what is wrong with it.
func (e *RuleError) Reason() string {
	if e.Rule == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%q: %s", e.Rule, e.Err)
}

// Unwrap returns what is wrong.
func (e *RuleError) Unwrap() error { return e.Err }

// bad blames one entry of a list.
func (p Policy) bad(list string, index int, err error) error {
	return &RuleError{List: list, Index: index, Rule: p.entry(list, index), Err: err}
}

// badKey blames a key that is no list, or one name under it.
func (p Policy) badKey(list, rule string, err error) error {
	return &RuleError{List: list, Index: -1, Rule: rule, Err: err}
}

func (p Policy) entry(list string, index int) string {
	lists := map[string][]string{"keys": p.Keys, "allow": p.Allow, "paths": p.Paths, "url_paths": p.URLPaths, "literals": nil}
	if entries := lists[list]; index >= 0 && index < len(entries) {
		return entries[index]
	}
	if list == "patterns" && index >= 0 && index < len(p.Patterns) {
		return p.Patterns[index].Name
	}
	return ""
}

// ParsePolicy reads a policy from YAML. Unknown and repeated keys are refused with their line; an empty document is the
// default policy. The rules themselves are checked by [Compile] or, with their lines, by [CompileYAML].
func ParsePolicy(source []byte) (Policy, error) {
	var policy Policy
	decoder := yaml.NewDecoder(bytes.NewReader(source), yaml.Strict())
	if err := decoder.Decode(&policy); err != nil {
		if errors.Is(err, io.EOF) {
			return Policy{}, nil
		}
		return Policy{}, fmt.Errorf("redaction policy: %s", yaml.FormatError(err, false, true))
	}
	var second any
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return Policy{}, errors.New("redaction policy: more than one YAML document, one is allowed")
	}
	return policy, nil
}

// CompileYAML reads a policy and compiles it; an error names the line and the rule. The keys are those of [OpHMAC].
func CompileYAML(source []byte, keys ...HMACKey) (*Redactor, error) {
	policy, err := ParsePolicy(source)
	if err != nil {
		return nil, err
	}
	policy.HMACKeys = keys
	redactor, err := Compile(policy)
	var bad *RuleError
	if errors.As(err, &bad) {
		bad.Line = lineOf(source, bad)
	}
	return redactor, err
}

// lineOf finds a rule in its file again, or the list that it stands in.
func lineOf(source []byte, bad *RuleError) int {
	file, err := parser.ParseBytes(source, 0)
	if err != nil {
		return 0
	}
	line := 0
	paths := []string{"$." + bad.List}
	if bad.Index >= 0 {
		paths = append(paths, fmt.Sprintf("$.%s[%d]", bad.List, bad.Index))
	} else if bad.Rule != "" {
		paths = append(paths, "$."+bad.List+".'"+strings.ReplaceAll(bad.Rule, "'", "")+"'")
	}
	for _, text := range paths {
		path, err := yaml.PathString(text)
		if err != nil {
			continue
		}
		node, err := path.FilterFile(file)
		if err == nil && node != nil {
			line = firstLine(node)
		}
	}
	return line
}

// firstLine is a node's own line; a mapping's token is its first colon.
func firstLine(node ast.Node) int {
	return node.GetToken().Position.Line
}

// fingerprint identifies the policy in a report: equal for equal rules, whatever their file looks like. Keys of HMACs count
// by id.
func (p Policy) fingerprint() string {
	ids := make([]string, 0, len(p.HMACKeys))
	for _, key := range p.HMACKeys {
		ids = append(ids, key.ID)
	}
	encoded, err := json.Marshal(struct {
		Policy Policy
		Keys   []string
	}{p, ids})
	if err != nil { // strings, numbers and maps of strings
		panic("redaction: a policy does not marshal")
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}
