//go:build !unix

package peers

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills the process alone: the servers start no others.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
