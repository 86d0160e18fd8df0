package config

import "slices"

// dialectMcpServers is a file or a text of which nothing more is known than that it has "mcpServers", such as a text
// that a host passes to the hub. The keys of all applications are accepted if they are unambiguous. A timeout is
// ambiguous, and so is a reference to a variable.
var dialectMcpServers = dialect{
	name: DialectMcpServers, title: "a file of no known application",
	keys: usual.with(keys{
		"oauth":         web((*entryReader).oauth),
		"envFile":       local((*entryReader).envFile),
		"alwaysAllow":   each((*entryReader).allowed),
		"autoApprove":   each((*entryReader).allowed),
		"tools":         each((*entryReader).toolsOnly),
		"disabledTools": each((*entryReader).toolsHidden),
		"watchPaths":    local((*entryReader).watch),
		"dev":           each((*entryReader).dev),
		"timeout":       timeoutless,
		"isActive":      each((*entryReader).enabled),
		"transport":     each(readElsewhere),
		"transportType": each(readElsewhere),
		"source":        quiet, "settings": quiet, // Zed's
		"gallery": quiet, "version": quiet, "deferTools": quiet, "metadata": quiet,
		"sandboxEnabled": local((*entryReader).sandboxEnabled),
		"sandbox":        noSandbox, "network": noSandbox, "filesystem": noSandbox,
	}),
	words:     map[string]string{"serverUrl": "url", "httpUrl": "url"},
	urls:      []urlKey{{"url", TransportAuto}},
	rearrange: looseForms,
}

// looseForms moves the keys of an object "transport" into the entry, and those of an object "command", which Zed once
// used. An entry that Zed has from an extension is skipped: the hub cannot start such a server.
func looseForms(r *entryReader, ks []key) []key {
	ks = flatten(r, ks)
	at := func(name string) int { return slices.IndexFunc(ks, func(k key) bool { return k.name == name }) }
	i := at("command")
	if i < 0 {
		r.skipped = at("settings") >= 0 && at("url") < 0
		return ks
	}
	members, isObject := ks[i].value.object()
	if !isObject {
		return ks
	}
	inner := make([]key, 0, len(members))
	for _, m := range r.distinct(r.doc, members, r.server, "command") {
		k := key{m, path("command", m.name)}
		if k.name == "path" {
			k.name = "command"
		}
		if !m.value.isNull() {
			inner = append(inner, k)
		}
	}
	return slices.Concat(ks[:i], inner, ks[i+1:])
}
