package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// pkg is what `go list -json` tells about a package of the module.
type pkg struct {
	ImportPath   string
	Dir          string
	Name         string
	Doc          string
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Module       struct{ Path, Dir string }
	Error        *struct{ Err string }
}

// load lists the packages of the module that contains dir.
func load(dir string) ([]pkg, error) {
	list := exec.Command("go", "list", "-e", "-tags=corpus", "-json", "./...")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	var packages []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		packages = append(packages, p)
	}
}

// unit returns the unit of an import path, and whether it belongs to the module at all.
func (p pkg) unit(importPath string) (string, bool) {
	rest, inside := strings.CutPrefix(importPath, p.Module.Path+"/")
	if !inside {
		return "", importPath == p.Module.Path
	}
	parts := strings.Split(rest, "/")
	if parts[0] == "internal" && len(parts) > 1 {
		return "internal/" + parts[1], true
	}
	return parts[0], true
}

// below says whether an import path is one of the roots or below it.
func below(importPath string, roots []string) bool {
	for _, root := range roots {
		if importPath == root || strings.HasPrefix(importPath, root+"/") {
			return true
		}
	}
	return false
}
