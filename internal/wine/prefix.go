package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// prefix is a separate Windows in a folder. It is Windows 10, and has the ProcessPrng that Go's runtime needs.
type prefix struct {
	dir string
	env []string
}

// make creates the prefix. end must be called, also after an error.
func (p *prefix) make(ctx context.Context, dir, root string) error {
	const compiler = "x86_64-w64-mingw32-gcc"
	for _, tool := range []string{"wine", "wineserver", compiler} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("there is no %s: Debian has it in wine64, wine and gcc-mingw-w64-x86-64-win32", tool)
		}
	}
	home := filepath.Join(dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	p.dir = filepath.Join(dir, "wine")
	// Wine's own messages and the downloads of Mono and Gecko are off. Its links to the user's folders lead to this home.
	p.env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "MCPHUB_") }),
		"WINEPREFIX="+p.dir, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "HOME="+home, "DISPLAY=")
	for _, args := range [][]string{{"wineboot", "-i"}, {"winecfg", "-v", "win10"}} {
		// The output goes to a file, since processes that the first start leaves running would keep a pipe open.
		if out, err := output(p.command(ctx, time.Minute, args...), filepath.Join(dir, args[0]+".out")); err != nil {
			return fmt.Errorf("wine %s: %w\n%s", args[0], err, out)
		}
	}
	dll := filepath.Join(p.dir, "drive_c/windows/system32/bcryptprimitives.dll")
	source := filepath.Join(root, "internal/wine/prng/prng.c")
	if out, err := exec.CommandContext(ctx, compiler, "-shared", "-O2", "-o", dll, source, "-ladvapi32").
		CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	return nil
}

// command returns a program under Wine. It is killed after limit; processes that it has started end with the prefix.
func (p *prefix) command(ctx context.Context, limit time.Duration, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	cmd := exec.CommandContext(ctx, "wine", args...)
	cmd.Env = p.env
	cmd.Cancel = func() error { defer cancel(); return cmd.Process.Kill() }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// output runs a command with its output in a file, since a process that was left behind could keep a pipe open.
func output(cmd *exec.Cmd, file string) (text []byte, err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = f, f
	err = cmd.Run()
	_, seekErr := f.Seek(0, io.SeekStart)
	text, readErr := io.ReadAll(f)
	return text, errors.Join(err, seekErr, readErr, f.Close())
}

// end ends everything that runs in the prefix.
func (p *prefix) end() {
	if p.dir == "" {
		return
	}
	for _, arg := range []string{"-k", "-w"} {
		cmd := exec.Command("wineserver", arg)
		cmd.Env = p.env
		_ = cmd.Run() // an error means that nothing runs any more
	}
}
