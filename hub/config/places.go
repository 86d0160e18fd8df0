package config

import (
	"io/fs"
	"os"
	"strings"
)

// Places says where to look for the files of other applications.
type Places struct {
	Home    string   // the user's home directory; if empty, nothing below it is looked for
	Folders []string // of the workspace, absolute
	Environ []string // in the form of os.Environ
	GOOS    string   // in the form of runtime.GOOS: the system whose paths are used
	// Stat is used to look for files; nil means os.Stat.
	Stat func(name string) (fs.FileInfo, error)
}

// Known returns those of [Candidates] that exist as regular files.
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

// Candidates returns the places at which applications keep their servers, whether the files exist or not: those of the
// user first, then those of each workspace folder. Within a scope, the weakest comes first, so that of two servers of
// one name the one of the editor itself counts before that of another application. Each path occurs once, and as the
// user's file if it is both; only .claude.json occurs once for each folder.
func Candidates(p Places) []Source {
	f := finder{Places: p, seen: map[string]bool{}}
	f.getenv = LookupEnv(p.Environ, p.GOOS)
	f.user()
	for _, folder := range p.Folders {
		f.workspace(folder)
	}
	return f.found
}

// finder collects paths. It joins them itself, and not by path/filepath, so that the rules of other systems can be used
// and tested.
type finder struct {
	Places
	getenv func(string) (string, bool)
	found  []Source
	seen   map[string]bool
}

// add adds a path below base, which is ignored if base is unknown (""); the parts of rest are separated by "/".
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

// dir returns the directory that a variable names if it is absolute, else one below home, or "" if home is unknown.
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

// applications returns the directory in which desktop applications keep their data.
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

// editors have extensions that keep files in the folder of the editor. The weakest comes first.
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
	// Claude Code keeps the user's servers for all folders, and those for each single folder, in one file.
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
