package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
)

// procStat holds the fields of /proc/N/stat (proc(5)) that are used here.
type procStat struct {
	pid    int
	state  byte
	pgrp   int
	kernel bool   // a thread of the kernel: it has no environment
	start  uint64 // clock ticks since boot
	rss    int64  // pages
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
		start: number(22), rss: int64(number(24)), envEnd: number(51),
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
