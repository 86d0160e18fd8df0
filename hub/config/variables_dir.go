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

// below makes a path absolute: below the workspace folder, or else beside the file that it is written in.
func (e *expander) below(name string) string {
	name = filepath.FromSlash(e.home(name)) // a file may write slashes, and a variable its system's own, on Windows
	if filepath.IsAbs(name) {
		return name
	}
	if folder := e.folder(""); folder != "" {
		return under(folder, name)
	}
	return under(e.beside(), name)
}

// under is a name that is not absolute, in a folder. What begins with a separator begins, on Windows, at the root of
// the folder's drive or share, as it does in the applications whose files these are.
func under(folder, name string) string {
	if name != "" && os.IsPathSeparator(name[0]) {
		return filepath.Join(filepath.VolumeName(folder)+string(filepath.Separator), name)
	}
	return filepath.Join(folder, name)
}

// beside is the folder of the file that the server is written in. A name of a file that is not absolute, and a text
// that is no file, begin where the hub runs.
func (e *expander) beside() string {
	folder := filepath.Dir(e.server.Origin.File)
	if !filepath.IsAbs(folder) && e.vars.Cwd != "" {
		folder = filepath.Join(e.vars.Cwd, folder)
	}
	return folder
}

// dir is the working directory of a process, with what each application takes when nothing is said.
func (e *expander) dir(name string) string {
	o := e.server.Origin
	switch {
	case strings.TrimSpace(name) != "":
		return e.below(name)
	case e.server.URL != "":
		return "" // no process
	case o.Dialect == DialectDesktop:
		return e.vars.Home
	case o.Dialect == DialectVSCode || o.Dialect == DialectRoo:
		if folder := e.folder(""); folder != "" {
			return folder
		}
	}
	folder := e.beside()
	switch {
	case o.Folder != "":
		return o.Folder
	case o.Scope == "workspace" && filepath.IsAbs(o.File):
		return folder
	case o.OfWorkspace() || !filepath.IsAbs(folder) || e.ofApplication(folder) || folder == filepath.Dir(folder):
		return e.vars.Home // also for a host that runs in the root of the file system, as desktops start their programs
	case e.vars.IsFolder != nil && !e.vars.IsFolder(folder):
		return e.vars.Home
	case strings.HasPrefix(filepath.Base(folder), "."): // .vscode, .cursor
		return filepath.Dir(folder)
	}
	return folder
}

// ofApplication tells whether an application keeps its settings there, which is no place to work in: what is below the
// home directory in a folder that is hidden, or is the system's for settings.
func (e *expander) ofApplication(folder string) bool {
	below, err := filepath.Rel(e.vars.Home, folder)
	if e.vars.Home == "" || err != nil || !filepath.IsLocal(below) {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(below), "/")
	return first == "Library" || first == "AppData" || strings.HasPrefix(first, ".") && first != "."
}
