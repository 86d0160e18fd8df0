//go:build !linux && !windows

package process

import "os/exec"

// startProcess calls cmd.Start directly: on these systems the end of a thread does not affect a child.
func startProcess(cmd *exec.Cmd) error {
	closeOnExec()
	return cmd.Start()
}
