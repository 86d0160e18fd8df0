package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Wanted is a program to be found.
type Wanted struct {
	Command string // as configured, with its references replaced
	Dir     string
	Env     map[string]*string // the variables that the entry sets
	Heir    Heir
}

// Found is the result of Find.
type Found struct {
	Program   Program  // zero if none was found
	Err       error    // why none was found, a *process.StartError
	From      string   // where it was found, in words; "" if the command is a path
	Env       []string // the complete environment of the process
	Inherited []string // names of the user's settings that the process inherits
	Searched  string   // the other places that were searched, for process.Command
}

// Find finds a program as the start of a process would, in the PATH that the process gets. If the command is not there,
// Find searches the PATH of the login shell, and then the folders of version and package managers. The folder in which
// it is found is then added to the PATH of the process, because a program needs its neighbours (npx needs node). If the
// login shell matters, Find waits for its answer within ctx; if there is no answer by then, the program counts as not
// found.
func (u *User) Find(ctx context.Context, w Wanted) Found {
	base := u.Base(ctx)
	found, missing := w.in(base, "")
	said := slices.ContainsFunc(slices.Collect(maps.Keys(w.Env)),
		func(name string) bool { return strings.EqualFold(name, "PATH") })
	switch {
	case strings.ContainsAny(w.Command, `/\`):
		if found.Err == nil && !said && w.Heir == Own && filepath.IsAbs(w.Command) {
			found.Env = withPath(found.Env, joined(pathOf(found.Env), filepath.Dir(w.Command)))
		}
		return found
	case found.Err != nil && (said || !missing):
		return found
	case said:
		found.From = "the PATH that the entry sets"
		return found
	case !missing:
		if found.From = "your PATH"; u.Desktop && u.known() && u.err == nil {
			found.From = fmt.Sprintf("the PATH of your login shell (%s)", u.shell)
		}
		return found
	}
	searched := []string{"the PATH of the server's environment (" + some(filepath.SplitList(pathOf(found.Env))) + ")"}
	if len(u.Printer) > 0 && u.shell != "" {
		u.wait(ctx)
		text := "the PATH of the login shell " + u.shell
		switch {
		case !u.known():
			found.Err = fmt.Errorf("the login shell %s has not answered yet", u.shell)
			return found
		case u.err != nil:
			text += " (" + bounds.Printable(u.err.Error()) + ")"
		default:
			base = u.answer
			if there, missing := w.in(base, ""); !missing {
				there.From = fmt.Sprintf("the PATH of your login shell (%s)", u.shell)
				return there
			}
		}
		searched = append(searched, text)
	}
	places := u.places(base)
	for _, p := range places {
		if there, missing := w.in(base, p); !missing {
			there.From = "the folder " + p
			return there
		}
	}
	searched = append(searched, "the folders of version and package managers ("+some(places)+")")
	found.Searched = strings.Join(searched, "; ")
	if e, ok := errors.AsType[*StartError](found.Err); ok {
		_, again := Find(Command{Path: e.Command, Env: found.Env, Dir: w.Dir, Searched: found.Searched})
		found.Err = again
	}
	return found
}

// in searches the program in an environment: first in folder, unless that is "". missing reports that the command does
// not exist there.
func (w Wanted) in(base []string, folder string) (f Found, missing bool) {
	f.Env = Environment(base, w.Heir, w.Env)
	if folder != "" {
		f.Env = withPath(f.Env, joined(folder, pathOf(f.Env)))
	}
	for _, name := range Inherited(base, w.Heir) {
		if _, said := w.Env[name]; !said {
			f.Inherited = append(f.Inherited, name)
		}
	}
	f.Program, f.Err = Find(Command{Path: w.Command, Dir: w.Dir, Env: f.Env})
	e, ok := errors.AsType[*StartError](f.Err)
	return f, ok && e.Setting == "command" && errors.Is(f.Err, fs.ErrNotExist)
}

// some returns a list of the first of many folders, for a message.
func some(folders []string) string {
	const most = 8
	if len(folders) == 0 {
		return "empty"
	}
	folders = distinct(folders)
	text := strings.Join(folders[:min(len(folders), most)], ", ")
	if more := len(folders) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return bounds.Printable(text)
}

// distinct removes duplicates: shells put folders into PATH twice.
func distinct(folders []string) (list []string) {
	for _, f := range folders {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

// pathName returns the spelling of PATH in an environment. Windows has "Path".
func pathName(env []string) string {
	if runtime.GOOS == "windows" {
		for _, kv := range env {
			if name, _, _ := strings.Cut(kv, "="); strings.EqualFold(name, "PATH") {
				return name
			}
		}
	}
	return "PATH"
}

func pathOf(env []string) string { return lookup(env, pathName(env)) }

func withPath(env []string, path string) []string {
	name := pathName(env)
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	env = append(env, name+"="+path)
	slices.Sort(env)
	return env
}

// joined returns the PATH first, followed by the folders of then that it does not have.
func joined(first, then string) string {
	list := filepath.SplitList(first)
	for _, dir := range filepath.SplitList(then) {
		if !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return strings.Join(list, string(os.PathListSeparator))
}
