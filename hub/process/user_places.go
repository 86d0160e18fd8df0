package process

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// home returns the user's home directory, or "" if it is unknown.
func (u *User) home() string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if home := lookup(u.Environ, name); filepath.IsAbs(home) {
		if info, err := os.Stat(home); err == nil && info.IsDir() {
			return home
		}
	}
	return ""
}

// places returns the existing folders of version and package managers, in the order in which they are searched: a
// folder of a version that somebody has chosen comes before the folders of the system.
func (u *User) places(environ []string) (list []string) {
	home := u.home()
	below := func(root string, parts ...string) {
		if !filepath.IsAbs(root) {
			return
		}
		dir := filepath.Join(append([]string{root}, parts...)...)
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	// said returns the folder that a variable names, or the default folders if the variable is not set
	said := func(variable string, defaults ...string) (roots []string) {
		if dir := lookup(environ, variable); filepath.IsAbs(dir) {
			return []string{dir}
		}
		for _, d := range defaults {
			if home != "" {
				roots = append(roots, filepath.Join(home, filepath.FromSlash(d)))
			}
		}
		return roots
	}
	for _, root := range said("NVM_DIR", ".nvm") {
		if version := nvmDefault(root); version != "" {
			below(root, "versions", "node", version, "bin")
		}
	}
	for _, root := range said("FNM_DIR", ".local/share/fnm", ".fnm", "Library/Application Support/fnm") {
		below(root, "aliases", "default", "bin")
	}
	for _, m := range []struct {
		variable string
		parts    []string
		defaults []string
	}{
		{"MISE_DATA_DIR", []string{"shims"}, []string{".local/share/mise"}},
		{"ASDF_DATA_DIR", []string{"shims"}, []string{".asdf"}},
		{"VOLTA_HOME", []string{"bin"}, []string{".volta"}},
		{"PNPM_HOME", nil, []string{".local/share/pnpm", "Library/pnpm"}},
		{"BUN_INSTALL", []string{"bin"}, []string{".bun"}},
		{"DENO_INSTALL", []string{"bin"}, []string{".deno"}},
		{"", []string{"bin"}, []string{".local"}}, // also used by uv and pipx
		{"CARGO_HOME", []string{"bin"}, []string{".cargo"}},
		{"GOPATH", []string{"bin"}, []string{"go"}},
	} {
		for _, root := range said(m.variable, m.defaults...) {
			below(root, m.parts...)
		}
	}
	if runtime.GOOS == "windows" {
		below(lookup(environ, "APPDATA"), "npm")
		below(lookup(environ, "NVM_SYMLINK"))
		for _, parts := range [][]string{{"Volta", "bin"}, {"pnpm"}, {"Microsoft", "WinGet", "Links"}, {"mise", "shims"}} {
			below(lookup(environ, "LOCALAPPDATA"), parts...)
		}
		below(home, "scoop", "shims")
		below(cmp.Or(lookup(environ, "ProgramFiles"), lookup(environ, "PROGRAMFILES")), "nodejs")
		return list
	}
	for _, parts := range [][]string{{"opt", "homebrew", "bin"}, {"usr", "local", "bin"},
		{"home", "linuxbrew", ".linuxbrew", "bin"}, {"usr", "local", "go", "bin"}, {"opt", "local", "bin"}, {"snap", "bin"},
	} {
		below(cmp.Or(u.Root, "/"), parts...)
	}
	return list
}

// nvmDefault returns the version that nvm uses in a new shell. The alias "default" leads to a version, to the beginning
// of one, or to another alias ("lts/*"). Without a default, it is the newest version.
func nvmDefault(root string) string {
	entries, err := os.ReadDir(filepath.Join(root, "versions", "node"))
	if err != nil {
		return ""
	}
	want := "default"
	for range 5 {
		if !filepath.IsLocal(want) {
			break
		}
		text, err := os.ReadFile(filepath.Join(root, "alias", filepath.FromSlash(want)))
		if err != nil || len(text) > 256 {
			break
		}
		want = strings.TrimSpace(string(text))
	}
	best := ""
	for _, e := range entries {
		name := e.Name()
		version := strings.TrimPrefix(want, "v")
		fits := strings.TrimPrefix(name, "v") == version || strings.HasPrefix(strings.TrimPrefix(name, "v"), version+".") ||
			slices.Contains([]string{"default", "node", "stable"}, want)
		if strings.HasPrefix(name, "v") && fits && (best == "" || newer(name, best)) {
			best = name
		}
	}
	return best
}

// newer reports whether the version a is newer than b, by their numbers.
func newer(a, b string) bool {
	numbers := func(v string) (list []int) {
		for part := range strings.SplitSeq(strings.TrimPrefix(v, "v"), ".") {
			n, _ := strconv.Atoi(part)
			list = append(list, n)
		}
		return list
	}
	return slices.Compare(numbers(a), numbers(b)) > 0
}
