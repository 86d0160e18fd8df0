package config

import (
	"strings"

	"github.com/mcphub-go/mcphub/hub/event"
)

// vscode reads a setting of VS Code that its organisation's policy sets (McpAccessValue, policy ChatMCP). Other
// settings say nothing of what may be launched.
func (r *policyReader) vscode(m member) bool {
	switch m.name {
	case "chat.mcp.access":
		switch access, _ := m.value.str(); access {
		case "all":
		case "registry":
			r.onlyRegistry(m)
		case "none":
			r.only(m, event.LaunchList{Why: "allows no servers"})
		default:
			r.fail(m.value.at(), m.name, `must be "none", "registry" or "all"`)
		}
	case "chat.mcp.gallery.serviceUrl":
		if _, ok := m.value.str(); !ok { // the host asks it for the list
			r.fail(m.value.at(), m.name, "must be a text, is %s", m.value.kind())
		}
	}
	return true
}

// cline reads a key of Cline's remote config. Other keys say nothing of what may be launched.
func (r *policyReader) cline(m member) bool {
	switch m.name {
	case "mcpMarketplaceEnabled":
		if !r.truth(m) && r.p.Unreadable == "" {
			r.only(m, event.LaunchList{Processes: true, Personal: true, Why: "switches off servers on this machine"})
		}
	case "allowedMCPServers":
		list := event.LaunchList{Processes: true, Personal: true,
			Why: "allows only servers of the repositories that it names, and the registry's list has none of them that launches this"}
		for _, repository := range r.each(m, "id") {
			for _, s := range r.listed {
				if sameRepository(s.repository, repository) {
					list.Rules = append(list.Rules, s.rules...)
				}
			}
		}
		r.only(m, list)
	case "remoteMCPServers":
		for _, url := range r.each(m, "url") {
			r.remotes = append(r.remotes, event.LaunchRule{Kind: event.LaunchURL, URL: url, Text: url, Listed: true})
		}
	case "blockPersonalRemoteMCPServers":
		if r.truth(m) {
			r.only(m, event.LaunchList{Remotes: true, Personal: true,
				Why: "allows only the addresses of remoteMCPServers"})
		}
	}
	return true
}

// each returns the texts that the objects of an array have under a key.
func (r *policyReader) each(m member, key string) (texts []string) {
	for _, v := range r.elements(m.value, m.name) {
		members, _ := r.members(v, m.name)
		one := memberOf(members, key)
		if one == nil {
			r.fail(v.at(), m.name, "must be an array of objects with %q", key)
			continue
		}
		texts = append(texts, r.text(*one, m.name+"."+key))
	}
	return texts
}

// clineLists adds to a list what another key says of it.
func (r *policyReader) clineLists() {
	for i := range r.p.Only {
		if list := &r.p.Only[i]; list.Name == "blockPersonalRemoteMCPServers" {
			list.Rules = r.remotes
		}
	}
}

// sameRepository compares addresses of repositories, which people spell with and without ".git".
func sameRepository(a, b string) bool {
	plain := func(s string) string {
		s = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "git+")
		return strings.TrimPrefix(strings.TrimSuffix(strings.TrimRight(s, "/"), ".git"), "https://")
	}
	return plain(a) != "" && plain(a) == plain(b)
}
