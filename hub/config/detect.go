package config

import (
	slashpath "path"
	"strconv"
	"strings"
)

// The dialect of a file comes from the source; else from the file's name; else from the keys that hold the servers;
// else from the keys of the entries. The last is a guess. It matters only where the dialects differ: in the unit of a
// timeout, and in the variables.

// fileNames are file names that determine the dialect. folder is also compared if the name alone is ambiguous.
var fileNames = []struct{ folder, name, dialect string }{
	{".vscode", "mcp.json", DialectVSCode},
	{".vscode", "settings.json", DialectVSCode}, // used by older versions
	{"user", "settings.json", DialectVSCode},
	{"", "devcontainer.json", DialectVSCode},
	{"", ".devcontainer.json", DialectVSCode},
	{"", ".mcp.json", DialectPortable},
	{"", "mcp-config.json", DialectPortable},
	{"", ".claude.json", DialectPortable},
	{".roo", "mcp.json", DialectRoo},
	{".kilocode", "mcp.json", DialectRoo}, // Kilo Code began as Roo Code
	{"", "mcp_settings.json", DialectRoo},
	{"", "cline_mcp_settings.json", DialectCline},
	{"", "claude_desktop_config.json", DialectDesktop},
	{".cursor", "mcp.json", DialectCursor},
	{"", "mcp_config.json", DialectCursor}, // Windsurf
	{".windsurf", "mcp.json", DialectCursor},
	{".gemini", "settings.json", DialectGemini},
	{".qwen", "settings.json", DialectGemini}, // Qwen Code began as Gemini CLI
	{"", "opencode.json", DialectOpencode},
	{"", "opencode.jsonc", DialectOpencode},
	{"", "crush.json", DialectCrush},
	{"", ".crush.json", DialectCrush},
}

// slashes replaces the backslashes of a path by slashes. The result serves for comparison only; no file is opened with
// it.
func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func dialectOfFile(file string) string {
	file = strings.ToLower(slashes(file))
	for _, f := range fileNames {
		if slashpath.Base(file) == f.name && (f.folder == "" || slashpath.Base(slashpath.Dir(file)) == f.folder) {
			return f.dialect
		}
	}
	switch slashpath.Ext(file) {
	case ".toml":
		return DialectCodex
	case ".code-workspace":
		return DialectVSCode
	}
	return ""
}

// holder returns the key that holds the servers of a dialect.
func holder(dialect string) string {
	switch dialect {
	case DialectVSCode:
		return "servers"
	case DialectCodex:
		return "mcp_servers"
	case DialectOpencode, DialectCrush:
		return "mcp"
	}
	return "mcpServers"
}

// settingsOf has the dialects whose file holds all settings of the application. Such a file may have no servers, and
// its key "servers" may mean something else.
var settingsOf = map[string]bool{DialectDesktop: true, DialectGemini: true, DialectCodex: true, DialectOpencode: true,
	DialectCrush: true}

// dialectOfHolder returns the dialect of the servers under a top-level key, or "" if the key holds no servers. dialect
// is what is known about the file. settings reports that the file holds more than servers.
func dialectOfHolder(m member, dialect string, settings bool) string {
	switch {
	case dialect != "" && m.name == holder(dialect):
		return dialect
	case m.name == "mcp.servers" && dialect == DialectVSCode:
		return DialectVSCode
	case settings:
		return ""
	case m.name == "servers":
		return DialectVSCode
	case m.name == "mcpServers" && dialect != "":
		return dialect
	case m.name == "mcpServers":
		return dialectOfEntries(m.value)
	case m.name == "context_servers" && dialect == "": // Zed
		return DialectMcpServers
	case m.name == "amp.mcpServers" && dialect == "": // Amp, which has the variables of Claude Code
		return DialectPortable
	case m.name == "mcp" && dialect == "":
		return dialectOfTypes(m.value)
	}
	return ""
}

// dialectOfTypes returns the dialect of a file of unknown name whose servers are in "mcp": opencode and Crush use
// different words for "type".
func dialectOfTypes(v value) string {
	servers, _ := v.object()
	if i := deeper(servers); i >= 0 {
		servers, _ = servers[i].value.object()
	}
	for _, s := range servers {
		members, _ := s.value.object()
		if m := find(members, "type"); m != nil {
			switch kind, _ := m.value.str(); kind {
			case "local", "remote":
				return DialectOpencode
			case "stdio", "http", "sse":
				return DialectCrush
			}
		} else if m := find(members, "command"); m != nil {
			if _, isArray := m.value.array(); isArray {
				return DialectOpencode
			}
		}
	}
	return ""
}

// telling has the keys that only one dialect has. It does not have "alwaysAllow", "autoApprove", "disabledTools" and
// the words for "type": several applications use each of them, and some of these count a timeout in seconds, others in
// milliseconds (Kiro has "autoApprove" beside 60000).
var telling = map[string]string{
	"oauthClient": DialectCline, "remoteConfigured": DialectCline,
	"watchPaths": DialectRoo,
	"httpUrl":    DialectGemini, "includeTools": DialectGemini, "excludeTools": DialectGemini, "trust": DialectGemini,
	"serverUrl": DialectCursor,
}

// dialectOfEntries guesses the dialect from the keys below "mcpServers", for a file of unknown name. The dialect stays
// open if there are keys of the hub itself, keys of two dialects, or no key that only one dialect has.
func dialectOfEntries(v value) string {
	found := map[string]bool{}
	servers, _ := v.object()
	for _, s := range servers {
		members, _ := s.value.object()
		tools, manyUnits := false, false
		for _, m := range members {
			if _, ours := own[m.name]; ours && m.name != "disabled" && m.name != "enabled" {
				return DialectMcpServers
			}
			if d := telling[m.name]; d != "" {
				found[d] = true
			}
			switch m.name {
			case "transport":
				if inner, _ := m.value.object(); find(inner, "command") != nil || find(inner, "url") != nil {
					found[DialectCline] = true
				}
			case "tools":
				tools = true
			case "timeout":
				n, _ := m.value.number()
				f, err := strconv.ParseFloat(n, 64)
				manyUnits = err == nil && f > 3600
			}
		}
		if tools && manyUnits {
			found[DialectPortable] = true
		}
	}
	if len(found) == 1 {
		for d := range found {
			return d
		}
	}
	return DialectMcpServers
}
