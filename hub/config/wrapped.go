package config

import (
	slashpath "path"
	"path/filepath"
	"strings"
)

// VS Code kept its servers in its settings before it had mcp.json, and a dev container still does. There, the content
// of an mcp.json is below some keys.

// wrapped returns the keys below which the servers of such a file may be, or nil if the file is not such a file.
func wrapped(file string) [][]string {
	switch base := strings.ToLower(slashpath.Base(slashes(file))); {
	case base == "settings.json" && dialectOfFile(file) == DialectVSCode:
		return [][]string{{}}
	case slashpath.Ext(base) == ".code-workspace":
		return [][]string{{"settings"}}
	case base == "devcontainer.json" || base == ".devcontainer.json":
		return [][]string{{"customizations", "vscode"}, {"customizations", "vscode", "settings"}}
	}
	return nil
}

// level is the object whose members are read: the root of a file, or an object in it.
type level struct {
	members      []member
	key, pointer string // the place of the object in the file; "" for the root
}

// unwrap returns the object "mcp", or the one that has "mcp.servers", which means the same to VS Code. The first of
// ways that leads to one counts. If none does, the result has no members.
func (l *loader) unwrap(root []member, ways [][]string) level {
	for _, way := range ways {
		in := level{members: root}
		for _, name := range way {
			in = l.enter(in, name)
		}
		if inner := l.enter(in, "mcp"); find(inner.members, "servers") != nil {
			return inner
		}
		if find(in.members, "mcp.servers") != nil {
			return in
		}
	}
	return level{}
}

func (l *loader) enter(in level, name string) level {
	m := find(in.members, name)
	if m == nil {
		return level{}
	}
	members, _ := m.value.object()
	out := level{key: path(in.key, name), pointer: pointer(in.pointer, name)}
	out.members = l.distinct(members, "", out.key)
	return out
}

// settingsOfVSCode reports whether a text of unknown name has "mcp" in the form of the settings of VS Code, and not in
// that of opencode.
func settingsOfVSCode(root []member, dialect string) bool {
	if dialect != "" && dialect != DialectVSCode || find(root, "servers") != nil || find(root, "mcpServers") != nil {
		return false
	}
	if find(root, "mcp.servers") != nil {
		return true
	}
	m := find(root, "mcp")
	if m == nil || dialectOfTypes(m.value) == DialectOpencode {
		return false
	}
	inner, _ := m.value.object()
	return deeper(inner) >= 0
}

func find(members []member, name string) *member {
	for i := range members {
		if members[i].name == name {
			return &members[i]
		}
	}
	return nil
}

// isClaudeJSON reports whether a file is a .claude.json. In this one file, Claude Code keeps the user's servers for all
// folders, and those for each single folder. The file is a source of its own for each folder; only the first of these
// sources has the servers for all folders.
func isClaudeJSON(file string) bool {
	return strings.EqualFold(slashpath.Base(slashes(file)), ".claude.json")
}

// projects reads the servers that ~/.claude.json has for one folder.
func (l *loader) projects(root []member) {
	m := find(root, "projects")
	if m == nil {
		return
	}
	members, _ := m.value.object()
	for _, p := range members {
		if l.source.Folder == "" || filepath.Clean(p.name) != filepath.Clean(l.source.Folder) {
			continue
		}
		settings, _ := p.value.object()
		for _, m := range l.distinct(settings, "", path("projects", p.name)) {
			if m.name == "mcpServers" {
				l.servers(m, DialectPortable, path(path("projects", p.name), m.name),
					pointer(pointer(pointer("", "projects"), p.name), m.name))
			}
		}
	}
}
