package userenv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/transport"
)

// Wanted is a program to be found.
type Wanted struct {
	Command string // as configured, its references replaced
	Dir     string
	Env     map[string]*string // what the entry sets
	Heir    transport.Heir
}

// Found is what there is of it.
type Found struct {
	Program   transport.Program // zero: none
	Err       error             // why, a *transport.StartError
	From      string            // where it was found, in words; "": the command is a path
	Env       []string          // the complete environment of the process
	Inherited []string          // names of what it inherits of the user's settings
	Searched  string            // where else it was looked for, for transport.Command
}

// Find looks for a program as the start of a process would, in the PATH that the process gets. A command that is not
// there is looked for in the PATH of the login shell, and then where version and package managers put theirs; the
// folder where it is found is in the PATH of the process then, for a program needs its neighbours (npx needs node). The
// login shell's answer is waited for within ctx, where it counts; what cannot be told without it is not found yet.
func (u *User) Find(ctx context.Context, w Wanted) Found {
	base := u.Base(ctx)
	found, missing := w.in(base, "")
	said := slices.ContainsFunc(names(w.Env), func(name string) bool { return strings.EqualFold(name, "PATH") })
	switch {
	case strings.ContainsAny(w.Command, `/\`):
		if found.Err == nil && !said && w.Heir == transport.Own && filepath.IsAbs(w.Command) {
			found.Env = withPath(found.Env, joined(lookup(found.Env, pathName(found.Env)), filepath.Dir(w.Command)))
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
	searched := []string{"the PATH of the server's environment (" + some(filepath.SplitList(lookup(found.Env,
		pathName(found.Env)))) + ")"}
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
	if e, ok := errors.AsType[*transport.StartError](found.Err); ok {
		_, again := transport.Find(transport.Command{Path: e.Command, Env: found.Env, Dir: w.Dir, Searched: found.Searched})
		found.Err = again
	}
	return found
}

// in looks in an environment, first in one folder.
func (w Wanted) in(base []string, folder string) (f Found, missing bool) {
	f.Env = transport.Environment(base, w.Heir, w.Env)
	if folder != "" {
		f.Env = withPath(f.Env, joined(folder, lookup(f.Env, pathName(f.Env))))
	}
	for _, name := range transport.Inherited(base, w.Heir) {
		if _, said := w.Env[name]; !said {
			f.Inherited = append(f.Inherited, name)
		}
	}
	f.Program, f.Err = transport.Find(transport.Command{Path: w.Command, Dir: w.Dir, Env: f.Env})
	e, ok := errors.AsType[*transport.StartError](f.Err)
	return f, ok && e.Setting == "command" && errors.Is(f.Err, fs.ErrNotExist)
}

// some names the first of many folders.
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

// distinct leaves out what stood before: shells put folders into PATH twice.
func distinct(folders []string) (list []string) {
	for _, f := range folders {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}

func names(env map[string]*string) (list []string) {
	for name := range env {
		list = append(list, name)
	}
	return list
}

// pathName is how PATH is spelled in an environment; Windows has "Path".
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

func withPath(env []string, path string) []string {
	name := pathName(env)
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	env = append(env, name+"="+path)
	slices.Sort(env)
	return env
}

// joined is a PATH and, behind it, what another one has besides.
func joined(first, then string) string {
	list := filepath.SplitList(first)
	for _, dir := range filepath.SplitList(then) {
		if !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return strings.Join(list, string(os.PathListSeparator))
}
