package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that holds the child and everything that it starts. The
// job ends all of it when its last handle is closed, and so also when the hub dies.
//
// The child is created suspended, put into the job and then resumed, so that it
// can start nothing outside the job.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

// contain prevents a console window from appearing for each server, and has the process created suspended (see group).
func contain(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW | windows.CREATE_SUSPENDED,
	}
}

func newGroup(cmd *exec.Cmd, in *enclosure) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("CreateJobObject: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("SetInformationJobObject: %w", err)
	}
	var assign error
	err = cmd.Process.WithHandle(func(h uintptr) {
		assign = windows.AssignProcessToJobObject(job, windows.Handle(h))
	})
	// A child that has already exited needs no job.
	if err = errors.Join(err, assign); err != nil && !errors.Is(err, os.ErrProcessDone) && !exited(cmd) {
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("AssignProcessToJobObject: %w", err)
	}
	if err := resume(cmd.Process.Pid); err != nil && !exited(cmd) {
		_ = windows.CloseHandle(job) // ends the child, too
		return nil, err
	}
	return &group{cmd: cmd, job: job}, nil
}

// resume starts the one thread of a process that was created suspended. os/exec
// closes the handle of that thread, so it is looked up.
func resume(pid int) error {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("CreateToolhelp32Snapshot: %w", err)
	}
	defer func() { _ = windows.CloseHandle(all) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(all, &entry); err == nil; err = windows.Thread32Next(all, &entry) {
		if int(entry.OwnerProcessID) != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("OpenThread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return fmt.Errorf("ResumeThread: %w", err)
		}
		return nil
	}
	return fmt.Errorf("the thread to resume was not found: %w", err)
}

func exited(cmd *exec.Cmd) (over bool) {
	_ = cmd.Process.WithHandle(func(h uintptr) {
		ev, err := windows.WaitForSingleObject(windows.Handle(h), 0)
		over = err == nil && ev == windows.WAIT_OBJECT_0
	})
	return over
}

// await waits on the process handle and leaves the status for reap.
func (g *group) await() {
	_ = g.cmd.Process.WithHandle(func(h uintptr) {
		_, _ = windows.WaitForSingleObject(windows.Handle(h), windows.INFINITE)
	})
}

// terminate returns false: Windows has no signal that reaches a program without a console or a window. Closing stdin
// was the polite request.
func (g *group) terminate() bool { return false }

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

func (g *group) reap() (*os.ProcessState, error) {
	g.kill()
	state, err := g.cmd.Process.Wait()
	_ = windows.CloseHandle(g.job)
	return state, err
}

// basicAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION of winnt.h.
type basicAccounting struct {
	totalUserTime, totalKernelTime            int64
	periodUserTime, periodKernelTime          int64
	pageFaults, processes, active, terminated uint32
}

func (g *group) active() (int, error) {
	var info basicAccounting
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return int(info.active), err
}

func (g *group) empty() bool {
	n, err := g.active()
	return err == nil && n == 0
}

func (g *group) survivors() error {
	n, err := g.active()
	if err != nil {
		return fmt.Errorf("QueryInformationJobObject: %w", err)
	}
	return fmt.Errorf("%d processes of the job did not end after it was ended", n)
}

func signalName(s syscall.Signal) string { return s.String() }

// lookPath finds a program in the child's PATH, with the extensions of the hub's PATHEXT. It skips relative folders.
func lookPath(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file, nil
		}
	}
	return "", fs.ErrNotExist
}

// executable accepts what exec.LookPath finds, with or without its extension;
// os/exec adds the extension when it starts the file.
func executable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return syscall.EISDIR
	}
	_, err := exec.LookPath(path)
	if errors.Is(err, exec.ErrNotFound) && !strings.ContainsAny(path, "\x00") {
		return fs.ErrNotExist
	}
	return err
}

// fullName returns the name of the file that is executed for a path from resolve: with the extension that os/exec would
// add when it starts the file, from the hub's own PATHEXT. The PATHEXT in a server's entry applies to the server alone.
func fullName(path string) (string, error) { return exec.LookPath(path) }

// readNow is not needed: pipes have no deadline on Windows, and end with the job.
func readNow(syscall.RawConn, []byte) int { return 0 }

// startProcess starts cmd. It runs a batch file (npx.cmd, above all) by cmd.exe, with a command line that is quoted for
// cmd.exe. CreateProcess would run cmd.exe by itself, but with a line that is quoted for programs, in which an & in an
// argument begins a command (CVE-2024-24576 in other languages; Go leaves the quoting to its callers).
func startProcess(cmd *exec.Cmd) error {
	path, lookErr := fullName(cmd.Path)
	if lookErr != nil {
		return cmd.Start() // the error is the one that os/exec has for it
	}
	// Windows ignores dots and spaces at the end of a file's name.
	switch strings.ToLower(filepath.Ext(strings.TrimRight(path, ". "))) {
	case ".cmd", ".bat":
	default:
		return cmd.Start()
	}
	line, err := batchLine(path, cmd.Args[1:])
	if err != nil {
		err.Command = cmd.Args[0]
		return err
	}
	system, sysErr := windows.GetSystemDirectory() // not %ComSpec%, which the config of a server may set
	if sysErr != nil {
		return sysErr
	}
	cmd.Path = filepath.Join(system, "cmd.exe")
	cmd.SysProcAttr.CmdLine = line
	return cmd.Start()
}

// lookUp asks GetProcessTimes. The start is absolute, in units of 100 ns.
func lookUp(pid int) (start uint64, living bool, err error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return 0, false, errNoProcess
	}
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, false, err
	}
	ev, err := windows.WaitForSingleObject(h, 0)
	over := err == nil && ev == windows.WAIT_OBJECT_0
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), !over, nil
}

// bootID is not needed where the start of a process is an absolute time.
func bootID() string { return "" }

// killGroup ends the process alone. What it started is in its job object, which ended with the hub that held it.
func killGroup(pid int) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return
	}
	_ = windows.TerminateProcess(h, 1)
	_ = windows.CloseHandle(h)
}

// guardable is false: the job objects end with the hub that holds them, so no guard is needed.
const guardable = false

func startGuard([]string) (*guardProcess, error) { return nil, errors.ErrUnsupported }

func writeNow(*os.File, []byte) int { return 0 }

func closeOnExec() {}
