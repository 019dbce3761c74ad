package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// maxLines is where a source file stops; tests and generated files are longer for reasons of their own.
const maxLines = 400

// checkSources reads the packages' shipped files: documentation, length, environment.
func checkSources(packages []pkg) ([]string, error) {
	var breaches []string
	for _, p := range packages {
		files := slices.Concat(p.GoFiles, p.CgoFiles)
		if p.Doc == "" && len(files) > 0 {
			breaches = append(breaches, p.ImportPath+": no package comment; say in doc.go what it is for")
		}
		for _, name := range files {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, fmt.Errorf("check %s: %w", p.ImportPath, err)
			}
			unit, _ := p.unit(p.ImportPath)
			found, err := checkFile(p.ImportPath+"/"+name, source, slices.Contains(wiring, unit))
			if err != nil {
				return nil, err
			}
			breaches = append(breaches, found...)
		}
	}
	return breaches, nil
}

// checkFile looks at one file; mayReadEnvironment is true for those of cmd and the test tools.
func checkFile(name string, source []byte, mayReadEnvironment bool) ([]string, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("check %w", err)
	}
	var breaches []string
	if lines := bytes.Count(source, []byte("\n")); lines > maxLines && !ast.IsGenerated(file) {
		breaches = append(breaches, fmt.Sprintf("%s: %d lines, want at most %d", name, lines, maxLines))
	}
	if mayReadEnvironment {
		return breaches, nil
	}
	for _, call := range environmentReads(file) {
		breaches = append(breaches, fmt.Sprintf("%s: %s: the environment is read in cmd only", files.Position(call.Pos()), call.Sel.Name))
	}
	return breaches, nil
}

func environmentReads(file *ast.File) []*ast.SelectorExpr {
	functions := map[string][]string{} // by the name the package has in this file
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser accepted it
		name := path
		if spec.Name != nil {
			name = spec.Name.Name
		}
		functions[name] = environmentFunctions[path]
	}
	var reads []*ast.SelectorExpr
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && slices.Contains(functions[x.Name], selector.Sel.Name) {
				reads = append(reads, selector)
			}
		}
		return true
	})
	return reads
}
