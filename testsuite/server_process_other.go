//go:build !unix

package testsuite

import "os/exec"

// Without process groups the pipe alone does the work.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
