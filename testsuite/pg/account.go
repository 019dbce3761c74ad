//go:build unix

package pg

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is who runs the server when that is not the test's own user.
type account struct{ uid, gid int }

// unprivileged returns nil when the current user may run PostgreSQL, otherwise the account that will.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(found.Uid)
		gid, gidErr := strconv.Atoi(found.Gid)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("look up account %s: %w", name, err)
		}
		return &account{uid: uid, gid: gid}, nil
	}
	return nil, errors.New("postgresql refuses to run as root, and there is no account postgres or nobody to run it as")
}

func (a *account) own(dir string) error {
	if a == nil {
		return nil
	}
	if err := os.Chown(dir, a.uid, a.gid); err != nil {
		return fmt.Errorf("give %s to the account that runs postgresql: %w", dir, err)
	}
	return nil
}

// attributes make a process run as the account, in a process group of its own: Ctrl-C in a terminal is for the test, which
// stops the cluster in its own order.
func (a *account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}

// environment is the server's: no PG* variable of the user may change it, and messages come in one language.
func environment() []string { return []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"} }
