package config

import (
	slashpath "path"
	"path/filepath"
	"strings"
)

// isClaudeJSON: Claude Code keeps in one file what is the user's everywhere, and what is theirs in each folder. It is a
// source of its own for each folder, and only the first of them has the former.
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
