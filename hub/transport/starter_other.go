//go:build !linux && !windows

package transport

import "os/exec"

// startProcess is plain where no death of a thread is felt by a child.
func startProcess(cmd *exec.Cmd) error {
	closeOnExec()
	return cmd.Start()
}
