package config

import (
	"strings"
	"time"
)

// dialectRoo is Roo Code: mcp_settings.json for the user, .roo/mcp.json for a project. Its timeout is in seconds, from
// 1 to 3600, and is that of a tool call. Roo itself refuses an entry with a value out of range. The hub clamps the
// value and reports it, as for Cline, so that the server can be used.
var dialectRoo = dialect{
	name: DialectRoo, title: "Roo Code",
	keys: usual.with(keys{
		"timeout":       each(timeout{clock: total, unit: time.Second, least: 1, most: 3600, cuts: true}.read),
		"alwaysAllow":   each((*entryReader).allowed),
		"disabledTools": each((*entryReader).toolsHidden),
		"watchPaths":    local((*entryReader).watch),
		"metadata":      quiet, "version": quiet,
	}),
	words: map[string]string{"autoApprove": "alwaysAllow", "serverUrl": "url", "httpUrl": "url", "transport": "type",
		"transportType": "type"},
	urls:      []urlKey{{"url", TransportAuto}},
	typed:     typeWithURL,
	reference: braced,
	forms:     `${env:NAME} and ${workspaceFolder}`,
	check:     watchBuild,
}

// watchBuild watches build/index.js of a server: Roo Code restarts a server when this file is written.
func watchBuild(r *entryReader, given map[string]key) {
	for i, arg := range r.s.Args {
		if strings.Contains(strings.ReplaceAll(arg, `\`, "/"), "build/index.js") {
			r.s.Watch = append(r.s.Watch, arg)
			if _, said := r.s.Fields["watch"]; !said {
				r.markElement("watch", given["args"], i)
			}
			return
		}
	}
}
