//go:build unix

package doortest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// endAll fails the test for each process that is left, and kills it.
func (p *Place) endAll() {
	for pid, what := range p.Processes() {
		p.t.Errorf("process %d is left: %s", pid, what)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Processes returns the processes of the test, with their command lines. It needs /proc: elsewhere it finds none.
// Zombies do not count: they run nothing.
func (p *Place) Processes() map[int]string {
	found := map[int]string{}
	p.each(func(pid int, exe, cwd string) {
		for _, to := range []string{exe, cwd} {
			if to == p.Dir || strings.HasPrefix(to, p.Dir+"/") {
				line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
				found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
			}
		}
	})
	return found
}

// Running returns the processes that run a program of the place.
func (p *Place) Running(program string) (pids []int) {
	p.each(func(pid int, exe, _ string) {
		if exe == program {
			pids = append(pids, pid)
		}
	})
	return pids
}

// each goes through all other processes whose program and directory can be read: not those of other users, and not
// those that have ended.
func (p *Place) each(do func(pid int, exe, cwd string)) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		exe, err1 := os.Readlink(filepath.Join(dir, "exe"))
		cwd, err2 := os.Readlink(filepath.Join(dir, "cwd"))
		if err1 != nil && err2 != nil {
			continue
		}
		do(pid, strings.TrimSuffix(exe, " (deleted)"), strings.TrimSuffix(cwd, " (deleted)"))
	}
}

// Serve starts a program that serves until the end of the test, which ends it with SIGTERM and expects an end in order.
// It returns the standard output of the program, on which it says where it serves.
func Serve(t testing.TB, cmd *exec.Cmd) *bufio.Reader {
	t.Helper()
	if cmd.Stderr == nil {
		cmd.Stderr = t.Output()
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q ended: %v", cmd.Args, err)
		}
	})
	return bufio.NewReader(out)
}
