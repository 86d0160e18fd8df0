package config

import (
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
	name = e.home(name)
	if filepath.IsAbs(name) {
		return name
	}
	if folder := e.folder(""); folder != "" {
		return filepath.Join(folder, name)
	}
	return filepath.Join(e.beside(), name)
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
	switch {
	case o.Folder != "":
		return o.Folder
	case o.Scope == "workspace" && filepath.IsAbs(o.File):
		return filepath.Dir(o.File)
	}
	return e.vars.Home
}
