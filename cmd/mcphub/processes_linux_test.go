package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// processesOf returns the processes that run the program at path. Zombies do not: they have no program any more.
func processesOf(t *testing.T, path string) (pids []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		program, err := os.Readlink(link)
		if err != nil || strings.TrimSuffix(program, " (deleted)") != path {
			continue // ended meanwhile, a zombie, or another program
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// childOf returns a process of the program whose parent is that process.
func childOf(t *testing.T, p *program, parent int) int {
	t.Helper()
	for _, pid := range processesOf(t, p.path) {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err == nil && strings.Contains(string(status), "\nPPid:\t"+strconv.Itoa(parent)+"\n") {
			return pid
		}
	}
	t.Fatalf("process %d has no child of the program", parent)
	return 0
}
