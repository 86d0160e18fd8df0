//go:build unix && !linux

package process

func closeOnExec() { closeEachOnExec() }
