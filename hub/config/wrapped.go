package config

import (
	slashpath "path"
	"strings"
)

// VS Code kept its servers in its settings before it had mcp.json, and a dev container still brings them along so: what
// is an mcp.json elsewhere is below some keys there.

// wrapped tells below which keys the servers of such a file may be; nil: it is none.
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

// level is where the members are that a file is read by: its root, or what is wrapped in it.
type level struct {
	members      []member
	key, pointer string // of the object that they are in; "" is the root
}

// unwrap finds "mcp", or "mcp.servers", which to VS Code is the same. The first way that leads to one counts; without
// one there are no members.
func (l *loader) unwrap(doc *document, root []member, ways [][]string) level {
	for _, way := range ways {
		in := level{members: root}
		for _, name := range way {
			in = l.enter(doc, in, name)
		}
		if inner := l.enter(doc, in, "mcp"); find(inner.members, "servers") != nil {
			return inner
		}
		if find(in.members, "mcp.servers") != nil {
			return in
		}
	}
	return level{}
}

func (l *loader) enter(doc *document, in level, name string) level {
	m := find(in.members, name)
	if m == nil {
		return level{}
	}
	members, _ := m.value.object()
	out := level{key: path(in.key, name), pointer: pointer(in.pointer, name)}
	out.members = l.distinct(doc, members, "", out.key)
	return out
}

// settingsOfVSCode tells whether a text without a name that tells holds "mcp" as the settings of VS Code do, and not as
// opencode does.
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
