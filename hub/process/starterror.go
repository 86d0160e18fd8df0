package process

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// StartError says why a command could not be started, in words for the person
// who wrote the configuration. It never holds arguments or environment values.
type StartError struct {
	Command string // as configured
	Setting string // the setting to change: "command", "args", "cwd" or "env"; empty when none helps
	Message string // what is wrong, and what to do
	Err     error  // the cause, where the system gave one: fs.ErrNotExist, fs.ErrPermission, ...
}

func (e *StartError) Error() string { return fmt.Sprintf("cannot start %q: %s", e.Command, e.Message) }

func (e *StartError) Unwrap() error { return e.Err }

// resolve returns the absolute path of the program of c. It checks what can be checked before a process exists, because
// the system's own error (ENOENT) does not say which of the paths is missing.
func resolve(c Command) (string, error) {
	fail := func(setting string, err error, format string, args ...any) (string, error) {
		return "", &StartError{Command: c.Path, Setting: setting, Message: fmt.Sprintf(format, args...), Err: err}
	}
	if c.Path == "" {
		return fail("command", fs.ErrInvalid, `no program is given; set "command"`)
	}
	if c.Dir != "" {
		switch info, err := os.Stat(c.Dir); {
		case errors.Is(err, fs.ErrNotExist):
			return fail("cwd", err, `the working directory %q does not exist; create it or change "cwd"`, c.Dir)
		case err != nil:
			return fail("cwd", err, `the working directory %q cannot be used (%v); change "cwd"`, c.Dir, cause(err))
		case !info.IsDir():
			return fail("cwd", syscall.ENOTDIR, `the working directory %q is not a directory; change "cwd"`, c.Dir)
		}
	}
	for _, kv := range c.Env {
		if strings.ContainsRune(kv, 0) {
			name, _, _ := strings.Cut(kv, "=")
			return fail("env", fs.ErrInvalid, `the variable %q holds a zero byte; change "env"`, name)
		}
	}
	if c.Program != "" {
		return resolveProgram(c, fail)
	}
	if filepath.Base(c.Path) == c.Path {
		path, err := lookPath(c.Path, lookupEnv(c.Env, "PATH"))
		switch {
		case errors.Is(err, fs.ErrPermission):
			return fail("command", err, `it was found in PATH but is not executable; make it executable or change "command"`)
		case err != nil:
			return fail("command", err,
				`it was not found in %s; install it, or set "command" to its full path%s`,
				cmp.Or(c.Searched, "the PATH of the server's environment"), argsHint(c.Path))
		}
		return path, nil
	}
	return resolveProgram(c, fail)
}

// resolveProgram checks a program that is given by a path.
func resolveProgram(c Command, fail func(setting string, err error, format string, args ...any) (string,
	error)) (string, error) {
	path := c.Path
	if c.Program != "" {
		path = c.Program
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fail("command", err, `its path cannot be made absolute (%v); set "command" to the full path`, err)
	}
	switch err := executable(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fail("command", err, `there is no file %q; change "command"%s`, path, argsHint(c.Path))
	case errors.Is(err, syscall.EISDIR):
		return fail("command", err, `%q is a directory; change "command"`, path)
	case errors.Is(err, fs.ErrPermission):
		return fail("command", err,
			`%q is not executable; make it executable, or name its interpreter in "command" and the file in "args"`, path)
	case err != nil:
		return fail("command", err, `%q cannot be used (%v); change "command"`, path, cause(err))
	}
	return path, nil
}

// argsHint names the most common mistake: a whole command line in "command".
func argsHint(path string) string {
	word, _, more := strings.Cut(strings.TrimSpace(path), " ")
	switch {
	case !more:
		return ""
	case strings.ContainsAny(word, `/\`): // a path may have blanks in it
		return `; if it holds arguments, move them to "args"`
	}
	return fmt.Sprintf(`; if it holds arguments, write "command": %q, and move what follows into "args", as one text for `+
		`each word`, word)
}

// explainStart turns the error of starting an existing file into advice.
func explainStart(c Command, path string, err error) error {
	if e, ok := errors.AsType[*StartError](err); ok {
		return e
	}
	e := &StartError{Command: c.Path, Setting: "command", Err: err}
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		e.Message = fmt.Sprintf(
			`%q is not a program of this system; a script needs a first line "#!" with its interpreter, or name the interpreter in "command"`, path)
	case errors.Is(err, fs.ErrNotExist):
		e.Message = fmt.Sprintf(
			`the interpreter that the first line of %q names, or a loader that it needs, does not exist; name another interpreter in "command"`, path)
	case errors.Is(err, syscall.E2BIG):
		e.Setting, e.Message = "args",
			`the arguments and the environment together are too long for this system; shorten "args" or "env"`
	case errors.Is(err, fs.ErrPermission):
		e.Message = fmt.Sprintf(`the system does not allow it to run %q; check its permissions and those of "cwd"`, path)
	case errors.Is(err, syscall.EINVAL):
		e.Setting, e.Message = "args", `an argument holds a zero byte; change "args"`
	default:
		e.Setting, e.Message = "", fmt.Sprintf("the system refused: %v", cause(err))
	}
	return e
}

// cause drops the operation and the path that os puts around a system error.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
