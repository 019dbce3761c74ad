package archtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// places are directories that documentation, images and scripts name for good reasons, so that finding one proves nothing.
var places = []string{"/", "/tmp", "/var/tmp", "/home", "/usr", "/usr/src", "/opt", "/src", "/srv", "/mnt", "/go", "/go/src", "/app", "/build", "/workspace"}

// needles are the paths that only this machine has: the directory that holds the repository (the repository itself where
// that is an ordinary place) and the home directory.
func needles(root, home string) []string {
	here := filepath.Dir(root)
	if slices.Contains(places, here) {
		here = root
	}
	var found []string
	for _, dir := range []string{here, home} {
		if filepath.IsAbs(dir) && !slices.Contains(places, filepath.Clean(dir)) {
			found = append(found, filepath.Clean(dir)+"/")
		}
	}
	return found
}

// trackedFiles lists what git knows under root, by path relative to it.
func trackedFiles(root string) ([]string, error) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		return nil, fmt.Errorf("list tracked files: %w", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// checkMachine returns the files that contain a needle.
func checkMachine(root string, names, needles []string) ([]string, error) {
	var breaches []string
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not yet committed as such
		}
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", name, err)
		}
		for _, needle := range needles {
			if at := bytes.Index(content, []byte(needle)); at >= 0 {
				line := 1 + bytes.Count(content[:at], []byte("\n"))
				breaches = append(breaches, fmt.Sprintf("%s:%d: contains %q, a path of this machine", name, line, needle))
			}
		}
	}
	return breaches, nil
}
