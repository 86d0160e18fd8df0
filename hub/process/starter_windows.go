package process

import (
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

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
