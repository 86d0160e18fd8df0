package config

import (
	"strings"
	"time"
)

// dialectRoo is Roo Code: mcp_settings.json for the user, .roo/mcp.json for a project. Its timeout is in seconds, from
// 1 to 3600, and is that of a tool call. Roo itself refuses what is beyond; a server is worth more than that, so it is
// cut and told, as Cline does.
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

// watchBuild: Roo Code restarts a server whose build/index.js is written anew, without being asked to.
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
