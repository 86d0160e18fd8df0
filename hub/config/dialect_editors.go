package config

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// dialectVSCode is mcp.json of VS Code: {"servers": {}, "inputs": []}. It has no timeout. If a server of type "http"
// does not speak Streamable HTTP, SSE is tried.
var dialectVSCode = dialect{
	name: DialectVSCode, title: "VS Code",
	keys: usual.with(keys{
		"envFile": local((*entryReader).envFile),
		"oauth":   web((*entryReader).oauth),
		"dev":     each((*entryReader).dev),
		"timeout": timeoutless,
		"gallery": quiet, "version": quiet, "metadata": quiet,
		"sandboxEnabled": local((*entryReader).sandboxEnabled),
		"sandbox":        noSandbox, "network": noSandbox, "filesystem": noSandbox,
		// VS Code keeps its approvals elsewhere. The hub has always accepted these keys in files that were written for it.
		"alwaysAllow": each((*entryReader).allowed),
		"autoApprove": each((*entryReader).allowed),
	}),
	words: map[string]string{"serverUrl": "url", "httpUrl": "url", "transport": "type", "transportType": "type",
		"watchPaths": "dev"},
	urls: []urlKey{{"url", TransportAuto}},
	types: map[string]string{
		"stdio": TransportStdio, "sse": TransportSSE, "http": TransportAuto, "streamable-http": TransportHTTP,
		"streamableHttp": TransportHTTP,
	},
	reference: braced,
	look:      mentions,
}

var inputReference = regexp.MustCompile(`\$\{input:([^}]*)\}`)

// mentions records the ids of the inputs that a text refers to, and reports references to commands, which make the
// start of the server fail.
func mentions(r *entryReader, key string, at int, text string) {
	if !strings.Contains(text, "${") {
		return
	}
	for _, m := range inputReference.FindAllStringSubmatch(text, -1) {
		if r.mentioned == nil {
			r.mentioned = map[string]bool{}
		}
		r.mentioned[m[1]] = true
	}
	if strings.Contains(text, "${command:") {
		r.warn(at, key,
			"has ${command:...}, which VS Code runs as a command: the hub runs no commands of a config file, and the server will not start")
	}
}

// dialectCursor is .cursor/mcp.json of Cursor, and mcp_config.json of Windsurf, which uses "serverUrl". Neither has a
// timeout.
var dialectCursor = dialect{
	name: DialectCursor, title: "Cursor",
	keys: usual.with(keys{
		"serverUrl": web((*entryReader).url),
		"envFile":   local((*entryReader).envFile),
		"auth": web(oauthIn(map[string]string{"CLIENT_ID": "clientId", "CLIENT_SECRET": "clientSecret",
			"scopes": "scopes"})),
		"oauth":         web((*entryReader).oauth),
		"alwaysAllow":   each((*entryReader).allowed),
		"disabledTools": each((*entryReader).toolsHidden),
		"timeout":       timeoutless,
		"metadata":      quiet, "version": quiet,
	}),
	words:     map[string]string{"httpUrl": "url", "transport": "type", "autoApprove": "alwaysAllow"},
	urls:      []urlKey{{"url", TransportAuto}, {"serverUrl", TransportAuto}},
	reference: braced,
	forms:     `${env:NAME} and ${workspaceFolder}`,
}

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

// dialectCline is cline_mcp_settings.json. Its timeout is in seconds, from 1 to 3600; a value out of range is clamped.
// An entry may be flat, or have an object "transport" with the keys that say how the server is reached. An address
// without a type means SSE.
var dialectCline = dialect{
	name: DialectCline, title: "Cline",
	keys: usual.with(keys{
		"transportType": each(readElsewhere),
		"timeout":       each(timeout{clock: total, unit: time.Second, least: 1, most: 3600, cuts: true}.read),
		"autoApprove":   each((*entryReader).allowed),
		"oauthClient":   web(oauthIn(map[string]string{"clientId": "clientId", "clientSecret": "clientSecret"})),
		"oauth":         quiet, // tokens that Cline itself has fetched
		"metadata":      quiet, "remoteConfigured": quiet, "version": quiet,
	}),
	words:     map[string]string{"alwaysAllow": "autoApprove", "serverUrl": "url", "httpUrl": "url", "transport": "type"},
	urls:      []urlKey{{"url", TransportSSE}},
	reference: braced,
	forms:     `${env:NAME}`,
	rearrange: flatten,
}

// flatten moves the keys of an object "transport" into the entry. A key in the object overrides a key of the same name
// beside it.
func flatten(r *entryReader, ks []key) []key {
	at := slices.IndexFunc(ks, func(k key) bool {
		_, isObject := k.value.object()
		return k.name == "transport" && isObject
	})
	if at < 0 {
		return ks
	}
	members, _ := ks[at].value.object()
	within := map[string]bool{}
	var inner []key
	for _, m := range r.distinct(members, r.server, ks[at].path) {
		if !m.value.isNull() {
			within[m.name] = true
			inner = append(inner, key{m, path(ks[at].path, m.name)})
		}
	}
	var out []key
	for i, k := range ks {
		switch {
		case i == at:
			out = append(out, inner...)
		case within[k.name]:
			r.warn(k.at, k.path, `is ignored: "transport" says it too`)
		default:
			out = append(out, k)
		}
	}
	return out
}
