package config

import (
	"os"
	"path/filepath"
	"strings"
)

// home replaces "~" and "~/" at the start of a path.
func (e *expander) home(name string) string {
	if e.vars.Home == "" || name == "" || name[0] != '~' {
		return name
	}
	if name == "~" {
		return e.vars.Home
	}
	if name[1] == '/' || name[1] == filepath.Separator {
		return filepath.Join(e.vars.Home, name[2:])
	}
	return name
}

// below makes a path absolute: for an entry of a workspace below its folder, else below the folder of the file.
func (e *expander) below(name string) string {
	name = filepath.FromSlash(e.home(name)) // on Windows, a file may use slashes, and the value of a variable backslashes
	if filepath.IsAbs(name) {
		return name
	}
	if folder := e.folder(""); folder != "" && e.server.Origin.OfWorkspace() {
		return under(folder, name)
	}
	return under(e.beside(), name)
}

// under returns the path of a relative name in a folder. On Windows, a name that begins with a separator is relative to
// the root of the folder's drive or share, as in the applications that the files belong to.
func under(folder, name string) string {
	if name != "" && os.IsPathSeparator(name[0]) {
		return filepath.Join(filepath.VolumeName(folder)+string(filepath.Separator), name)
	}
	return filepath.Join(folder, name)
}

// beside returns the folder of the file that has the server. If the file name is relative, or the text is not a file,
// it is relative to the working directory of the hub.
func (e *expander) beside() string {
	folder := filepath.Dir(e.server.Origin.File)
	if !filepath.IsAbs(folder) && e.vars.Cwd != "" {
		folder = filepath.Join(e.vars.Cwd, folder)
	}
	return folder
}

// dir returns the working directory of a process. If the config gives none, it depends on the application. An entry of
// the user does not run in the folder that happens to be open, unless it names it: many programs look for what they run
// where they run (npx, python -m, node), and the folder may be anybody's.
func (e *expander) dir(name string) string {
	o := e.server.Origin
	switch {
	case strings.TrimSpace(name) != "":
		return e.below(name)
	case e.server.URL != "":
		return "" // no process
	case o.Dialect == DialectDesktop:
		return e.vars.Home
	case o.OfWorkspace() && (o.Dialect == DialectVSCode || o.Dialect == DialectRoo):
		if folder := e.folder(""); folder != "" {
			return folder
		}
	}
	folder := e.beside()
	switch {
	case o.Folder != "" && (o.OfWorkspace() || o.Scope == "host" && !filepath.IsAbs(o.File)): // a text of a host
		return o.Folder
	case o.Scope == "workspace" && filepath.IsAbs(o.File):
		return folder
	case o.OfWorkspace() || !filepath.IsAbs(folder) || e.ofApplication(folder) || folder == filepath.Dir(folder):
		return e.vars.Home // also if a host runs in the root directory, as programs that a desktop starts do
	case e.vars.IsFolder != nil && !e.vars.IsFolder(folder):
		return e.vars.Home
	case strings.HasPrefix(filepath.Base(folder), "."): // .vscode, .cursor
		return filepath.Dir(folder)
	}
	return folder
}

// ofApplication reports whether a folder is one in which an application keeps its settings, and not a place to work in:
// a folder below the home directory that is hidden, or that the system has for settings.
func (e *expander) ofApplication(folder string) bool {
	below, err := filepath.Rel(e.vars.Home, folder)
	if e.vars.Home == "" || err != nil || !filepath.IsLocal(below) {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(below), "/")
	return first == "Library" || first == "AppData" || strings.HasPrefix(first, ".") && first != "."
}
