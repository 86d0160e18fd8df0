//go:build unix && !linux

package transport

func closeOnExec() { closeEachOnExec() }
