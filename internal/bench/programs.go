package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const productModule = "github.com/mcphub-go/mcphub"

// programs are what is measured, and what that talks to.
type programs struct {
	dir     string // of the built programs; it is removed at the end
	mcphub  string // the real hub
	echo    string // the MCP server
	hostile string // the server that attacks (internal/hostile)
	self    string // this program, for its roles
	root    string // the root of the repository
	commit  string // what was measured, and whether files were changed since; "unknown" without git
}

// build builds the programs. It needs the go command, and must run within this module's folder, as `go run .` does.
func build(ctx context.Context) (p programs, err error) {
	if p.self, err = os.Executable(); err != nil {
		return p, err
	}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", productModule).Output()
	if err != nil {
		return p, fmt.Errorf("go list -m %s: %w", productModule, err)
	}
	p.root = strings.TrimSpace(string(root))
	p.commit = "unknown"
	describe := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=8", "--dirty=, changed", "--exclude=*")
	describe.Dir = p.root
	if name, err := describe.Output(); err == nil {
		p.commit = strings.TrimSpace(string(name))
	}
	if p.dir, err = os.MkdirTemp("", "mcphub-bench"); err != nil {
		return p, err
	}
	// Each is built in its own module, whose go.mod decides about the versions.
	for _, program := range []struct {
		path            *string
		name, dir, from string
	}{
		{&p.echo, "echoserver", "", "./echoserver"},
		{&p.mcphub, "mcphub", p.root, "./cmd/mcphub"},
		{&p.hostile, "hostileserver", p.root, "./internal/hostile/hostileserver"},
	} {
		*program.path = filepath.Join(p.dir, program.name)
		if runtime.GOOS == "windows" {
			*program.path += ".exe"
		}
		if err := goBuild(ctx, program.dir, *program.path, program.from); err != nil {
			p.remove()
			return p, err
		}
	}
	return p, nil
}

func goBuild(ctx context.Context, dir, out, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, said)
	}
	return nil
}

func (p programs) remove() { _ = os.RemoveAll(p.dir) }

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
func processTimeOf(pid int, work func()) time.Duration {
	before := got(processTime(pid))
	work()
	return got(processTime(pid)) - before
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
