//go:build !unix

package peers

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup only kills the process itself: the servers start no other processes.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
