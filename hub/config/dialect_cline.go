package config

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

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
	check:     nativeRemote,
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
	for _, m := range r.distinct(r.doc, members, r.server, ks[at].path) {
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

// nativeRemote replaces the bridge that people use for a server with a URL, "npx mcp-remote <url>" without further
// arguments, by a direct connection. The bridge tries Streamable HTTP first, then SSE.
func nativeRemote(r *entryReader, given map[string]key) {
	s := &r.s
	if s.Transport != TransportStdio || len(s.Env) > 0 || !slices.Contains([]string{"npx", "npx.cmd", "npx.exe"},
		s.Command) {
		return
	}
	i := 0
	for i < len(s.Args) && (s.Args[i] == "-y" || s.Args[i] == "--yes") {
		i++
	}
	if i+2 != len(s.Args) || s.Args[i] != "mcp-remote" && !strings.HasPrefix(s.Args[i], "mcp-remote@") {
		return
	}
	u, err := url.Parse(s.Args[i+1])
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.Contains(s.Args[i+1], "#") {
		return
	}
	s.Transport, s.URL = TransportAuto, s.Args[i+1]
	for _, field := range []string{"command", "args", "cwd"} {
		delete(s.Fields, field)
	}
	r.mark("transport", given["command"])
	r.markElement("url", given["args"], i+1)
	s.Command, s.Args, s.Env, s.Dir = "", nil, nil, ""
	r.warn(given["command"].at, given["command"].path, "mcp-remote is not started: the hub connects to the address itself")
}
