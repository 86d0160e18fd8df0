//go:build unix

package clitest

import (
	"os"
	"os/exec"
)

// takeInterrupts has nothing to do here: a signal goes to one process.
func takeInterrupts(*exec.Cmd) {}

// sendInterrupt is what Ctrl-C in a terminal sends to the process.
func sendInterrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
