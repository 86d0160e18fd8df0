package config

import (
	slashpath "path"
	"strconv"
	"strings"
)

// Whose file it is, is told by the source, else by the file's name, else by the keys that hold the servers, else by the
// keys of the entries. The last is a guess, and one that matters only where the dialects differ: in the unit of a
// timeout and in the variables.

// fileNames are names that tell the dialect; folder is asked for where the name alone says too little.
var fileNames = []struct{ folder, name, dialect string }{
	{".vscode", "mcp.json", DialectVSCode},
	{".vscode", "settings.json", DialectVSCode}, // of older days
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

// slashes makes a path of any system one with slashes: a name is looked at, no file is opened by it.
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

// holder is the key that holds the servers of a dialect.
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

// settingsOf are the dialects whose file holds all settings of the application: there may be no server in it, and
// "servers" may be anything.
var settingsOf = map[string]bool{DialectDesktop: true, DialectGemini: true, DialectCodex: true, DialectOpencode: true,
	DialectCrush: true}

// dialectOfHolder tells which dialect the servers under a top-level key are written in; "": the key holds no servers.
// dialect is what is known of the file, and settings says that the file holds more than servers.
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
	case m.name == "amp.mcpServers" && dialect == "": // Amp, whose variables are those of Claude Code
		return DialectPortable
	case m.name == "mcp" && dialect == "":
		return dialectOfTypes(m.value)
	}
	return ""
}

// dialectOfTypes looks at a file without a name whose servers are in "mcp": opencode and Crush have different words for
// "type".
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

// telling are the keys that one dialect alone has. "alwaysAllow", "autoApprove", "disabledTools" and the words for
// "type" are none of them: each is found in the files of several applications, of which some count a timeout in seconds
// and some in milliseconds (Kiro's has "autoApprove" beside 60000).
var telling = map[string]string{
	"oauthClient": DialectCline, "remoteConfigured": DialectCline,
	"watchPaths": DialectRoo,
	"httpUrl":    DialectGemini, "includeTools": DialectGemini, "excludeTools": DialectGemini, "trust": DialectGemini,
	"serverUrl": DialectCursor,
}

// dialectOfEntries looks at the keys below "mcpServers" of a file without a name that tells. With keys of the hub
// itself, with the keys of two dialects, or with nothing that tells, it stays open.
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
