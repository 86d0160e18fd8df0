package config

import (
	slashpath "path"
	"path/filepath"
	"strings"
)

// isClaudeJSON reports whether a file is a .claude.json. In this one file, Claude Code keeps the user's servers for all
// folders, and those for each single folder. The file is a source of its own for each folder; only the first of these
// sources has the servers for all folders.
func isClaudeJSON(file string) bool {
	return strings.EqualFold(slashpath.Base(slashes(file)), ".claude.json")
}

// projects reads the servers that ~/.claude.json has for one folder.
func (l *loader) projects(doc *document, root []member) {
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
		for _, m := range l.distinct(doc, settings, "", path("projects", p.name)) {
			if m.name == "mcpServers" {
				l.servers(doc, m, DialectPortable, path(path("projects", p.name), m.name),
					pointer(pointer(pointer("", "projects"), p.name), m.name))
			}
		}
	}
}
