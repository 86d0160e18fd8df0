package process

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Command says what to run and how to end it.
type Command struct {
	// Path is the program: a name that is looked up in the PATH of Env, or a
	// path. A relative path is taken from Dir.
	Path string
	// Program is the absolute path of the file to execute, as returned by Find. If it is set, Path is not looked up and is
	// only the program's argv[0].
	Program string
	// Searched describes where Path was looked for. It is used in the error for a program that was not found; "" means the
	// PATH of the server's environment.
	Searched string
	// Alone closes the child's standard input. On Unix it also gives the child a session of its own, so that the child has
	// no terminal.
	Alone bool
	// Args are the arguments, without the program's name.
	Args []string
	// Env is the complete environment of the child; nothing is inherited on
	// top of it. See Environment.
	Env []string
	// Dir is the working directory; empty means the hub's own.
	Dir string
	// Grace is how long each stage of Stop waits.
	Grace Grace
	// StderrBytes is the capacity of the ring that Process.Stderr returns.
	// 0 means 64 KiB.
	StderrBytes int
	// OnStderr is called with each line of stderr, in order, from one
	// goroutine, before Done is closed. A line is cut at 8 KiB. It must
	// neither block nor call Stop or Kill. It may be nil.
	OnStderr func(line string)
	// Containment keeps the process from outliving the hub. The package comment says what still does so if Containment is
	// nil.
	Containment *Containment
}

// Grace is how long each stage of Stop waits for the processes to exit. Zero means the default, and a negative value
// means no wait. The sum bounds the duration of Stop.
type Grace struct {
	Stdin     time.Duration // after closing stdin; default 2 s
	Terminate time.Duration // after SIGTERM to the group; default 2 s
	Kill      time.Duration // after SIGKILL to the group; default 1 s
}

func (g Grace) withDefaults() Grace {
	pick := func(d, def time.Duration) time.Duration {
		switch {
		case d == 0:
			return def
		case d < 0:
			return 0
		}
		return d
	}
	return Grace{
		Stdin:     pick(g.Stdin, 2*time.Second),
		Terminate: pick(g.Terminate, 2*time.Second),
		Kill:      pick(g.Kill, time.Second),
	}
}

const (
	defaultStderrBytes = 64 << 10
	maxStderrLine      = 8 << 10
)

// Start runs the command. Its error is a *StartError, which names the setting to change; in that case no process is
// left behind.
//
// The caller owns the process: it reads Stdout until io.EOF and calls Stop, even if the child has exited on its own
// (Stop then returns at once).
func Start(c Command) (*Process, error) {
	if c.Containment != nil {
		return c.Containment.Start(c)
	}
	return launch(c, nil)
}

// launch runs the command, within in unless that is nil.
func launch(c Command, in *enclosure) (*Process, error) {
	path, err := resolve(c)
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, &StartError{Command: c.Path, Message: "no pipe could be opened: " + err.Error(), Err: err}
	}
	cmd, err := spawn(c, path, pipes, in)
	if err != nil {
		pipes.closeAll()
		return nil, explainStart(c, path, err)
	}
	pipes.closeChild()
	if c.Alone {
		closeFiles(pipes.in)
	}
	g, err := newGroup(cmd, in)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		pipes.closeAll()
		return nil, &StartError{Command: c.Path, Message: "the process could not be contained: " + err.Error(), Err: err}
	}
	return newProcess(c, cmd, g, pipes, in), nil
}

func spawn(c Command, path string, pipes pipes, in *enclosure) (*exec.Cmd, error) {
	env := append([]string{}, c.Env...) // never nil: nil would mean the hub's own environment
	if in != nil {
		env = withMarker(env, in.marker)
	}
	cmd := &exec.Cmd{
		Path:   path,
		Args:   append([]string{c.Path}, c.Args...),
		Env:    env,
		Dir:    c.Dir,
		Stdin:  pipes.childIn,
		Stdout: pipes.childOut,
		Stderr: pipes.childErr,
	}
	contain(cmd, c.Alone)
	return cmd, startProcess(cmd)
}

// pipes are the six ends of the child's three streams. They are pipes of our
// own, not those of os/exec: the hub's ends are in the runtime's poller, so
// Close wakes a blocked Write, and a read deadline wakes a blocked Read.
type pipes struct {
	childIn, in   *os.File
	out, childOut *os.File
	err, childErr *os.File
}

func openPipes() (p pipes, err error) {
	if p.childIn, p.in, err = os.Pipe(); err == nil {
		if p.out, p.childOut, err = os.Pipe(); err == nil {
			p.err, p.childErr, err = os.Pipe()
		}
	}
	if err != nil {
		p.closeAll()
	}
	return p, err
}

func (p pipes) closeChild() { closeFiles(p.childIn, p.childOut, p.childErr) }

func (p pipes) closeAll() {
	p.closeChild()
	closeFiles(p.in, p.out, p.err)
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

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
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// Program is the file that a [Command] runs.
type Program struct {
	// Path is the absolute path of the file that is executed.
	Path string
	// Target is Path with all symbolic links followed. It equals Path if there are none.
	Target string
}

// Find returns the program that Start would run for this command now. It looks where Start looks: in the PATH of c.Env,
// or relative to c.Dir. Its error is a *StartError. To run exactly that program later, set Command.Program.
func Find(c Command) (Program, error) {
	path, err := resolve(c)
	if err != nil {
		return Program{}, err
	}
	if path, err = fullName(path); err != nil {
		return Program{}, explainStart(c, path, err)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Program{}, explainStart(c, path, err)
	}
	return Program{Path: path, Target: target}, nil
}

// batchLine returns the command line that the standard library of Rust makes since 1.77.2 (make_bat_command_line).
// Extensions are on; delayed expansion (!x!) and AutoRun are off. Each argument is in quotes unless it is harmless.
// Quotes are doubled, which both cmd.exe and the C runtime of the program behind the batch file read as one. No % is
// followed by the name of a variable, since %cd:~,% takes the place of each: an empty part of a variable that is always
// there. An argument that no quoting can protect is refused.
func batchLine(path string, args []string) (string, *StartError) {
	if strings.ContainsAny(path, "\"%\r\n\x00") || strings.HasSuffix(path, `\`) {
		return "", &StartError{Setting: "command", Err: fs.ErrInvalid,
			Message: fmt.Sprintf("%q is a batch file, and a path with %% or quotes cannot be given to cmd.exe; move it", path)}
	}
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /c ""` + path + `"`)
	for i, arg := range args {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", &StartError{Setting: "args", Err: fs.ErrInvalid, Message: fmt.Sprintf(
				`%q is a batch file, and argument %d has a line break or zero byte, which cannot be given to one; change "args"`,
				path, i+1)}
		}
		b.WriteByte(' ')
		appendBatchArg(&b, arg)
	}
	b.WriteByte('"')
	return b.String(), nil
}

// appendBatchArg writes an argument, in quotes unless it consists of harmless ASCII. Some other characters separate
// words for cmd.exe, as the no-break space does in many code pages.
func appendBatchArg(b *strings.Builder, arg string) {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune(`#$*+-./:?@\_`, r)
	}
	quoted := arg == "" || strings.HasSuffix(arg, `\`) || strings.ContainsFunc(arg, func(r rune) bool {
		return !harmless(r)
	})
	if quoted {
		b.WriteByte('"')
	}
	backslashes := 0 // the number directly before arg[i]; before a quote they are doubled
	for i := range len(arg) {
		switch arg[i] {
		case '\\':
			backslashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
			backslashes = 0
		case '%':
			b.WriteString("%%cd:~,")
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteByte(arg[i])
	}
	if quoted {
		b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
	}
}
