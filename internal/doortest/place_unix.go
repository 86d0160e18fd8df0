//go:build unix

package doortest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
