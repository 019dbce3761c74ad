package redaction

import (
	"fmt"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

// maxSegments is the longest path: the matcher keeps one bit per segment.
const maxSegments = 63

func isPath(rule string) bool { return strings.HasPrefix(rule, "$") }

// pathSet matches many JSONPaths while the document streams by, without building it. Each path is a small automaton:
// bit i of its state means "the first i segments are matched by the way to this node".
type pathSet []compiledPath

type compiledPath []*spec.Segment

// pathState holds one word per path.
type pathState []uint64

// newPathSet compiles the paths of one list. Filters and positions from the end need the whole document and are refused.
func newPathSet(paths []string, bad func(path string, err error) error) (pathSet, error) {
	compiled := make(pathSet, 0, len(paths))
	for _, path := range paths {
		parsed, err := jsonpath.Parse(path)
		if err != nil {
			return nil, bad(path, err)
		}
		segments := parsed.Query().Segments()
		if len(segments) > maxSegments {
			return nil, bad(path, fmt.Errorf("%d segments, allowed are %d", len(segments), maxSegments))
		}
		for _, segment := range segments {
			for _, selector := range segment.Selectors() {
				if !supported(selector) {
					return nil, bad(path, fmt.Errorf("selector %s, allowed are names, wildcards, and indexes and slices counted from the start", selector))
				}
			}
		}
		compiled = append(compiled, segments)
	}
	return compiled, nil
}

func supported(selector spec.Selector) bool {
	switch s := selector.(type) {
	case spec.Name, spec.WildcardSelector:
		return true
	case spec.Index:
		return s >= 0
	case spec.SliceSelector:
		return s.Start() >= 0 && s.End() >= 0 && s.Step() > 0
	}
	return false
}

// root is the state at $.
func (p pathSet) root() pathState {
	state := make(pathState, len(p))
	for i := range state {
		state[i] = 1
	}
	return state
}

// child is the state at a member or element of a node; name is nil for an element.
func (p pathSet) child(parent pathState, name *string, index int) pathState {
	if len(p) == 0 {
		return nil
	}
	state := make(pathState, len(p))
	for i, segments := range p {
		for at, segment := range segments {
			if parent[i]&(1<<at) == 0 {
				continue
			}
			if segment.IsDescendant() {
				state[i] |= 1 << at
			}
			for _, selector := range segment.Selectors() {
				if selects(selector, name, index) {
					state[i] |= 1 << (at + 1)
				}
			}
		}
	}
	return state
}

func selects(selector spec.Selector, name *string, index int) bool {
	switch s := selector.(type) {
	case spec.WildcardSelector:
		return true
	case spec.Name:
		return name != nil && string(s) == *name
	case spec.Index:
		return name == nil && int(s) == index
	case spec.SliceSelector:
		return name == nil && index >= s.Start() && index < s.End() && (index-s.Start())%s.Step() == 0
	}
	return false
}

// selected is true when a path ends at the node.
func (p pathSet) selected(state pathState) bool {
	for i, segments := range p {
		if state[i]&(1<<len(segments)) != 0 {
			return true
		}
	}
	return false
}

// alive is true when a path may end below the node.
func (p pathSet) alive(state pathState) bool {
	for i, segments := range p {
		if state[i]&(1<<len(segments)-1) != 0 {
			return true
		}
	}
	return false
}
