package config

import (
	"io/fs"
	"os"
	"strings"
)

// Places is where to look for the files of other applications.
type Places struct {
	Home    string   // the user's; empty: unknown, and what is below it is not looked for
	Folders []string // of the workspace, absolute
	Environ []string // as os.Environ gives it
	GOOS    string   // as runtime.GOOS: whose paths they are
	// Stat tells whether a file is there; nil: os.Stat.
	Stat func(name string) (fs.FileInfo, error)
}

// Known is those of [Candidates] that are there as files.
func Known(p Places) []Source {
	stat := p.Stat
	if stat == nil {
		stat = os.Stat
	}
	var out []Source
	for _, src := range Candidates(p) {
		if info, err := stat(src.Path); err == nil && info.Mode().IsRegular() {
			out = append(out, src)
		}
	}
	return out
}

// Candidates is where applications keep their servers, whether the files are there or not: those of the user first,
// then those of each workspace folder; the weakest first, so that of two servers of one name in one scope the editor's
// own counts before one that another application has. A path comes once, as the user's file when it is both.
func Candidates(p Places) []Source {
	f := finder{Places: p, seen: map[string]bool{}}
	f.getenv = LookupEnv(p.Environ, p.GOOS)
	f.user()
	for _, folder := range p.Folders {
		f.workspace(folder)
	}
	return f.found
}

// finder gathers paths. They are joined by hand, so that the rules for another system than this one can be told and
// tested.
type finder struct {
	Places
	getenv func(string) (string, bool)
	found  []Source
	seen   map[string]bool
}

// add takes a path below a base that is known; the parts of the rest are separated by "/".
func (f *finder) add(dialect, scope, folder, base, rest string) {
	name := f.join(base, rest)
	key := name
	if scope == "user" && folder != "" {
		key += "\n" + folder // one file with parts for several folders
	}
	if base == "" || f.seen[key] {
		return
	}
	f.seen[key] = true
	f.found = append(f.found, Source{Path: name, Scope: scope, Dialect: dialect, Folder: folder})
}

func (f *finder) join(base, rest string) string {
	separator := "/"
	if f.GOOS == "windows" {
		separator = `\`
	}
	if base == "" || rest == "" {
		return base
	}
	return strings.TrimRight(base, `/`+separator) + separator + strings.ReplaceAll(rest, "/", separator)
}

// dir is the directory that a variable names, if it is an absolute one; else one below home, if that is known.
func (f *finder) dir(variable, belowHome string) string {
	if v, _ := f.getenv(variable); variable != "" && f.abs(v) {
		return v
	}
	if f.Home == "" {
		return ""
	}
	return f.join(f.Home, belowHome)
}

func (f *finder) abs(name string) bool {
	if f.GOOS == "windows" {
		return len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') || strings.HasPrefix(name, `\\`)
	}
	return strings.HasPrefix(name, "/")
}

// applications is where programs with windows keep their data.
func (f *finder) applications() string {
	switch f.GOOS {
	case "windows":
		return f.dir("APPDATA", "AppData/Roaming")
	case "darwin":
		return f.dir("", "Library/Application Support")
	}
	return f.xdg()
}

func (f *finder) xdg() string { return f.dir("XDG_CONFIG_HOME", ".config") }

// editors are those whose extensions keep files in the editor's own folder, the weakest first.
var editors = []string{"Windsurf", "Cursor", "VSCodium", "Code - Insiders", "Code"}

func (f *finder) user() {
	add := func(dialect, base, rest string) { f.add(dialect, "user", "", base, rest) }
	apps := f.applications()

	add(DialectDesktop, apps, "Claude/claude_desktop_config.json")
	if f.GOOS == "windows" {
		add(DialectCrush, f.dir("LOCALAPPDATA", "AppData/Local"), "crush/crush.json")
	}
	add(DialectCrush, f.xdg(), "crush/crush.json")
	// opencode follows XDG on every system.
	add(DialectOpencode, f.xdg(), "opencode/opencode.json")
	add(DialectOpencode, f.xdg(), "opencode/opencode.jsonc")
	if file, _ := f.getenv("OPENCODE_CONFIG"); f.abs(file) {
		add(DialectOpencode, file, "")
	}
	add(DialectCodex, f.dir("CODEX_HOME", ".codex"), "config.toml")
	add(DialectGemini, f.dir("GEMINI_CLI_HOME", ""), ".gemini/settings.json")
	add(DialectCursor, f.dir("", ".codeium"), "windsurf/mcp_config.json")
	add(DialectCursor, f.dir("", ".cursor"), "mcp.json")
	for _, editor := range editors {
		add(DialectCline, apps, editor+"/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
	}
	for _, editor := range editors {
		add(DialectRoo, apps, editor+"/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json")
	}
	for _, editor := range editors {
		add(DialectRoo, apps, editor+"/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json")
	}
	// Claude Code keeps in one file what is the user's everywhere, and what is theirs in each folder.
	claude := f.dir("CLAUDE_CONFIG_DIR", "")
	if len(f.Folders) == 0 {
		add(DialectPortable, claude, ".claude.json")
	}
	for _, folder := range f.Folders {
		f.add(DialectPortable, "user", folder, claude, ".claude.json")
	}
	add(DialectPortable, f.dir("COPILOT_HOME", ".copilot"), "mcp-config.json")
	add(DialectPortable, f.dir("", ".copilot"), "mcp-config.json")
	for _, editor := range editors[2:] {
		add(DialectVSCode, apps, editor+"/User/mcp.json")
	}
}

func (f *finder) workspace(folder string) {
	for _, file := range []struct{ dialect, name string }{
		{DialectCrush, "crush.json"}, {DialectCrush, ".crush.json"},
		{DialectOpencode, "opencode.json"}, {DialectOpencode, "opencode.jsonc"},
		{DialectCodex, ".codex/config.toml"},
		{DialectGemini, ".gemini/settings.json"},
		{DialectCursor, ".cursor/mcp.json"},
		{DialectRoo, ".kilocode/mcp.json"},
		{DialectRoo, ".roo/mcp.json"},
		{DialectPortable, ".mcp.json"},
		{DialectVSCode, ".vscode/mcp.json"},
	} {
		f.add(file.dialect, "workspace", folder, folder, file.name)
	}
}
