package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// maxOutput bounds what a shell may write before and while it answers, in bytes.
const maxOutput = 8 << 20

// PrintEnvironment writes an environment between two marks. [User.ask] runs it in another process. The marks are needed
// because a shell's own files may write anything before and after the environment, and values may have several lines.
func PrintEnvironment(w io.Writer, mark string, environ []string) error {
	mark = printed(mark)
	_, err := io.WriteString(w, mark+strings.Join(environ, "\x00")+mark)
	return err
}

// printed returns a mark in its printed form. It differs from the mark in a command line that a shell echoes.
func printed(mark string) string { return "<" + mark + ">" }

// read returns the environment that Print wrote.
func read(r io.Reader, mark string) ([]string, error) {
	var all strings.Builder
	piece := make([]byte, 32<<10)
	for from := 0; ; {
		n, err := r.Read(piece)
		all.Write(piece[:n])
		text := all.String()
		// The end of the text may be the beginning of a mark, so it is searched again together with what follows.
		if i := strings.Index(text[from:], mark); i >= 0 {
			from += i
			if inner, _, closed := strings.Cut(text[from+len(mark):], mark); closed {
				return strings.Split(inner, "\x00"), nil
			}
		} else {
			from = max(0, len(text)-len(mark))
		}
		switch {
		case all.Len() > maxOutput:
			return nil, fmt.Errorf("it wrote more than %d MiB", maxOutput>>20)
		case err != nil:
			return nil, errors.New("it ended without printing its environment")
		}
	}
}

// ask runs the login shell within ctx, and returns its environment. All processes that the shell has started are ended.
func (u *User) ask(ctx context.Context, shell string) ([]string, error) {
	mark := rand.Text()
	p, err := Start(Command{
		Path: shell, Args: shellArgs(shell, append(u.Printer, mark)), Env: shellEnvironment(u.Environ), Dir: u.home(),
		Grace: Grace{Stdin: -1, Terminate: -1}, Containment: u.Containment, Alone: true,
	})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { p.Kill("the shell took too long") })
	environ, err := read(p.Stdout(), printed(mark))
	if !stop() {
		err = context.Cause(ctx)
	}
	drained := make(chan struct{})
	go func() { // ends with the process; without a reader, a process that goes on writing could delay the end
		defer close(drained)
		_, _ = io.Copy(io.Discard, p.Stdout())
	}()
	p.Kill("the shell was asked and is needed no more")
	<-drained
	return environ, err
}

// shellEnvironment returns the environment of the shell: that of the hub, without the variables that are for the hub or
// the editor only. The shell's files can check MCPHUB_RESOLVING_ENVIRONMENT in order to do less.
func shellEnvironment(own []string) []string {
	env := make([]string, 0, len(own)+2)
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		if !ofHub(name) && name != "TERM" {
			env = append(env, kv)
		}
	}
	return append(env, "TERM=dumb", "MCPHUB_RESOLVING_ENVIRONMENT=1")
}

// ofHub reports whether a variable is for the hub or the editor.
func ofHub(name string) bool {
	for _, prefix := range []string{"PLUGIN_", "MCPHUB_", "VSCODE_", "ELECTRON_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// shellArgs returns the arguments with which a shell reads its files for login and interactive shells, and runs a
// command.
func shellArgs(shell string, command []string) []string {
	name := strings.TrimSuffix(filepath.Base(shell), ".exe")
	switch name {
	case "csh", "tcsh": // -l must be the only option
		return []string{"-ic", quoted(command, func(s string) string {
			return "'" + strings.NewReplacer("'", `'\''`, "!", `\!`, "\n", "\\\n").Replace(s) + "'"
		})}
	case "fish":
		return []string{"-i", "-l", "-c", quoted(command, func(s string) string {
			return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
		})}
	case "nu":
		return []string{"-i", "-l", "-c", "^" + quoted(command, strconv.Quote)}
	case "pwsh", "powershell":
		return []string{"-Login", "-Command", "& " + quoted(command, func(s string) string {
			return "'" + strings.ReplaceAll(s, "'", "''") + "'"
		})}
	}
	return []string{"-i", "-l", "-c", quoted(command, func(s string) string {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	})}
}

func quoted(words []string, quote func(string) string) string {
	var list []string
	for _, w := range words {
		list = append(list, quote(w))
	}
	return strings.Join(list, " ")
}

// loginShell returns the user's shell: the value of SHELL, else that in the system's list of users, else the system's
// default for a new user. It returns "" if there is none, as on Windows, where no files of a shell set the environment.
func loginShell(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	if shell := getenv("SHELL"); filepath.IsAbs(shell) {
		return shell
	}
	users, _ := os.ReadFile("/etc/passwd") // missing on some systems
	for line := range strings.Lines(string(users)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) == 7 && f[2] == strconv.Itoa(os.Getuid()) &&
			filepath.IsAbs(f[6]) {
			return f[6]
		}
	}
	if runtime.GOOS == "darwin" {
		return "/bin/zsh"
	}
	return "/bin/sh"
}
