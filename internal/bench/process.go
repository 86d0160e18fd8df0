package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

var errNoProc = errors.New("this system has no /proc")

// anonymousMiB returns the resident pages of a process that do not belong to a file.
func anonymousMiB(pid int) (kib float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errNoProc
	}
	_, value, _ := bytes.Cut(text, []byte("RssAnon:")) // see proc_pid_status(5)
	_, err = fmt.Sscan(string(value), &kib)
	return kib / 1024, err
}

// processTime returns the processor time that a process has used so far, user and system.
func processTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, errNoProc
	}
	_, rest, ok := bytes.Cut(text, []byte(") ")) // the name before it may contain any character
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, errNoProc
	}
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime: fields 14 and 15 of proc_pid_stat(5)
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // USER_HZ is 100 on every Linux that Go runs on
}

// processTimeOf returns the processor time that a process uses while work is done.
func processTimeOf(pid int, work func() error) (time.Duration, error) {
	before, err := processTime(pid)
	if err == nil {
		err = work()
	}
	if err != nil {
		return 0, err
	}
	after, err := processTime(pid)
	return after - before, err
}

// child is a program between two pipes of this one.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startChild starts a program whose longest line fits into the buffer.
func startChild(buffer int, path string, args ...string) (*child, error) {
	cmd := exec.Command(path, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, errors.Join(err, in.Close()))
	}
	return &child{cmd, in, bufio.NewReaderSize(out, buffer)}, nil
}

// close waits for the end of the program, which ends with its input.
func (c *child) close() { _, _ = c.in.Close(), c.cmd.Wait() }

// drop calls a tool of an echo server, and reads and drops everything until the result: no hub can do it for less. It
// returns the number of lines before the result.
func (c *child) drop(tool, arguments string) (lines int, err error) {
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,`+
		`"_meta":{"progressToken":1}}}`+"\n", tool, arguments); err != nil {
		return 0, err
	}
	for ; ; lines++ {
		line, err := c.out.ReadSlice('\n')
		if err != nil || bytes.Contains(line[:min(len(line), 64)], []byte(`"result"`)) {
			return lines, err
		}
	}
}
