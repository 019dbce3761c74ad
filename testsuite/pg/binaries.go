package pg

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// ErrNotInstalled says that this machine has no PostgreSQL server programs.
var ErrNotInstalled = errors.New("postgresql server programs not found: put initdb and postgres on PATH, or install them (apt-get install postgresql)")

// binDir returns the directory that holds initdb and postgres. Debian keeps them off PATH, one directory per major
// version; the newest wins. Whatever is on PATH goes first: somebody chose it.
func binDir() (string, error) {
	if found, err := exec.LookPath("initdb"); err == nil {
		if resolved, err := filepath.EvalSymlinks(found); err == nil && complete(filepath.Dir(resolved)) {
			return filepath.Dir(resolved), nil
		}
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is constant and well-formed
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return !complete(dir) })
	if len(dirs) == 0 {
		return "", ErrNotInstalled
	}
	return slices.MaxFunc(dirs, func(a, b string) int { return major(a) - major(b) }), nil
}

func major(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // not a number: oldest
	return n
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// Installed returns ErrNotInstalled when this machine has no PostgreSQL server programs.
func Installed() error {
	_, err := binDir()
	return err
}
