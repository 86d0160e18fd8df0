package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// childOf returns a process of the program whose parent is that process.
func childOf(t *testing.T, p *program, parent int) int {
	t.Helper()
	for _, pid := range p.Running(p.path) {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err == nil && strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(parent)+"\n") {
			return pid
		}
	}
	t.Fatalf("process %d has no child of the program", parent)
	return 0
}
