package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// procStat holds the fields of /proc/N/stat (proc(5)) that are used here.
type procStat struct {
	pid    int
	state  byte
	pgrp   int
	kernel bool   // a thread of the kernel: it has no environment
	start  uint64 // clock ticks since boot
	envEnd uint64 // 0 while exec sets up the new image, and where it may not be seen
}

// living is false for a zombie. In a container without an init, nobody reaps zombies.
func (s procStat) living() bool { return s.state != 'Z' && s.state != 'X' && s.state != 'x' }

const kernelThread = 0x00200000 // PF_KTHREAD of linux/sched.h

// parseStat reads one line of /proc/N/stat. The name in parentheses may hold
// anything, so the fields are counted after the last one.
func parseStat(stat []byte) (s procStat, ok bool) {
	pid, _, _ := bytes.Cut(stat, []byte{' '})
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 22 {
		return s, false
	}
	number := func(field int) (n uint64) { // counted from 1 as in proc(5)
		if field-3 < len(fields) {
			n, _ = strconv.ParseUint(string(fields[field-3]), 10, 64)
		}
		return n
	}
	s = procStat{
		state: fields[0][0], kernel: number(9)&kernelThread != 0,
		start: number(22), envEnd: number(51),
	}
	var err1, err2 error
	s.pid, err1 = strconv.Atoi(string(pid))
	s.pgrp, err2 = strconv.Atoi(string(fields[2]))
	return s, err1 == nil && err2 == nil
}

// vanished reports whether err is that of a process that ended while its files were read.
func vanished(err error) bool { return errors.Is(err, syscall.ESRCH) }

// eachProcess calls visit for every process that can be seen, zombies included. It fails if /proc cannot be read or
// shows no process.
func eachProcess(visit func(procStat)) error {
	proc, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return err
	}
	readable := false
	buf := make([]byte, 1024)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		n := readInto(buf, "/proc/"+name+"/stat")
		if s, ok := parseStat(buf[:n]); ok { // otherwise it has ended, or may not be seen
			readable = true
			visit(s)
		}
	}
	if !readable {
		return os.ErrNotExist
	}
	return nil
}

// readInto reads a small file of /proc into buf, and returns the number of bytes, 0 after any error. It bypasses the
// runtime's poller, which costs more than the read itself when there are hundreds of files.
func readInto(buf []byte, path string) int {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = syscall.Close(fd) }()
	for {
		n, err := syscall.Read(fd, buf)
		if err != syscall.EINTR {
			return max(n, 0)
		}
	}
}

// environHolds reports whether the environment that a process was started with holds needle: whole variables, each with
// a zero byte before and behind it. n is how many bytes of the environment were read.
func environHolds(pid int, needle string) (found bool, n int, err error) {
	f, err := os.Open(procPath(pid, "environ"))
	if err != nil {
		return false, 0, err
	}
	defer f.Close()
	buf := make([]byte, 8<<10)
	kept := copy(buf, "\x00") // the first variable has no zero byte before it
	for {
		m, err := f.Read(buf[kept:])
		n += m
		if bytes.Contains(buf[:kept+m], []byte(needle)) {
			return true, n, nil
		}
		// The needle may lie across two reads.
		tail := max(0, kept+m-len(needle))
		kept = copy(buf, buf[tail:kept+m])
		if err == io.EOF {
			return false, n, nil
		}
		if err != nil {
			return false, n, err
		}
	}
}

func procPath(pid int, file string) string { return "/proc/" + strconv.Itoa(pid) + "/" + file }

// marked returns the living processes whose environment holds needle. consider selects the processes whose environment
// is read; nil selects all. Processes of other users are skipped, since their environment cannot be read.
//
// settled is false if a process was seen in the middle of exec, when it has no environment for a moment. The caller
// then has to look again.
func marked(needle string, consider func(procStat) bool) (found []procStat, settled bool, err error) {
	var candidates []procStat
	err = eachProcess(func(s procStat) {
		if s.living() && !s.kernel && (consider == nil || consider(s)) {
			candidates = append(candidates, s)
		}
	})
	if err != nil {
		return nil, true, err
	}
	settled = true
	for _, s := range candidates {
		yes, n, err := environHolds(s.pid, needle)
		switch {
		case yes:
			found = append(found, s)
		case err == nil && n == 0 && s.envEnd == 0:
			settled = settled && !midExec(s.pid)
		}
	}
	return found, settled, nil
}

// midExec reports whether a process is in the middle of exec. It reads the state again, since most processes without an
// environment have ended.
func midExec(pid int) bool {
	buf := make([]byte, 1024)
	s, ok := parseStat(buf[:readInto(buf, procPath(pid, "stat"))])
	return ok && s.living() && s.envEnd == 0
}

// signalMarked signals a process if its environment still holds needle. The descriptor is opened before that check, so
// that the signal cannot reach another process that was given the number in between.
func signalMarked(pid int, needle string, signals ...unix.Signal) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.ENOSYS { // before Linux 5.3
		if yes, _, _ := environHolds(pid, needle); yes {
			for _, s := range signals {
				_ = unix.Kill(pid, s)
			}
		}
		return
	}
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if yes, _, _ := environHolds(pid, needle); yes {
		for _, s := range signals {
			_ = unix.PidfdSendSignal(fd, s, nil, 0)
		}
	}
}

// cleanLooks is how many scans of /proc in a row must find no process. One scan is not enough: /proc is read in the
// order of the numbers, and a process that is forked during the scan may have a lower number.
const cleanLooks = 3

// sweepMarked kills all processes that carry the marker of a hub, for at most limit. ended is how many it found, and
// clean reports whether none was left in the end.
func sweepMarked(hub string, limit time.Duration) (ended int, clean bool) {
	needle := hubNeedle(hub)
	seen := map[ident]bool{}
	end := time.Now().Add(limit)
	for quiet := 0; ; {
		found, settled, err := marked(needle, nil)
		if err != nil {
			return len(seen), false
		}
		for _, s := range found {
			seen[ident{s.pid, s.start}] = true
			signalMarked(s.pid, needle, unix.SIGKILL)
		}
		if quiet++; len(found) > 0 || !settled {
			quiet = 0
		}
		if quiet == cleanLooks {
			return len(seen), true
		}
		if time.Now().After(end) {
			return len(seen), false
		}
		time.Sleep(5 * time.Millisecond)
	}
}
