package config

import (
	"fmt"
	"slices"
	"time"
)

// dialectGemini is settings.json of Gemini CLI. Its timeout is in milliseconds. "httpUrl" means Streamable HTTP, and
// takes precedence over "url".
var dialectGemini = dialect{
	name: DialectGemini, title: "Gemini CLI",
	keys: usual.with(keys{
		"httpUrl":          web((*entryReader).url),
		"timeout":          each(timeout{clock: total, unit: time.Millisecond}.read),
		"trust":            each((*entryReader).trust),
		"includeTools":     each((*entryReader).toolsOnly),
		"excludeTools":     each((*entryReader).toolsHidden),
		"oauth":            web(geminiOAuth),
		"authProviderType": web(authProvider),
		"tcp":              missing("the hub speaks no WebSocket"),
		"extension":        quiet, "extensionName": quiet,
		"targetAudience": quiet, "targetServiceAccount": quiet, // settings of authProviderType, which is reported
	}),
	words: map[string]string{"serverUrl": "url", "transport": "type", "alwaysAllow": "approvals",
		"autoApprove": "approvals", "disabledTools": "excludeTools"},
	urls:      []urlKey{{"httpUrl", TransportHTTP}, {"url", TransportAuto}},
	reference: shellNames,
	forms:     `$NAME and ${NAME}`,
	merges:    true,
	check:     geminiLists,
}

// trust reads whether all tools of the server are called without asking. Gemini CLI itself accepts this in a project's
// file only if the folder is trusted.
func (r *entryReader) trust(k key) {
	yes, ok := k.value.boolean()
	switch {
	case !ok:
		r.wrong(k.value, k.path, "true or false")
	case yes && r.source.Scope == "workspace" && !r.source.Trusted:
		r.warn(k.at, k.path, "is ignored: a file of a workspace is taken at its word only in a folder that is trusted")
	case yes:
		r.approve("*", Allow, r.place(k))
	}
}

// geminiOAuth reads "oauth" of Gemini CLI. It ignores the keys whose values the hub takes from the metadata of the
// authorization server.
func geminiOAuth(r *entryReader, k key) {
	r.oauthNamed(k, map[string]string{
		"clientId": "clientId", "clientSecret": "clientSecret", "scopes": "scopes",
		"enabled": "", "authorizationUrl": "", "tokenUrl": "", "registrationUrl": "", "issuer": "", "audiences": "",
		"tokenParamName": "",
	})
}

func authProvider(r *entryReader, k key) {
	if s, ok := k.value.str(); !ok {
		r.wrong(k.value, k.path, "a string")
	} else if s != "dynamic_discovery" {
		r.warn(k.at, k.path, "is ignored: the hub signs in as the server's metadata say, and in no other way")
	}
}

// serverLists are "mcp.allowed" and "mcp.excluded" of a file of Gemini CLI. They say which of its servers are switched
// on.
type serverLists struct {
	allowed, excluded map[string]key
	only              *key // where the list of allowed servers is; nil if all are allowed
}

func (l *loader) serverLists(doc *document, root []member) (lists serverLists) {
	i := slices.IndexFunc(root, func(m member) bool { return m.name == "mcp" })
	if i < 0 {
		return lists
	}
	members, _ := root[i].value.object()
	for _, m := range l.distinct(doc, members, "", "mcp") {
		if m.name != "allowed" && m.name != "excluded" || m.value.isNull() {
			continue
		}
		at := path("mcp", m.name)
		values, ok := m.value.array()
		if !ok {
			l.report(doc.problem(m.value.at(), "", at, "must be an array of the names of servers, is "+m.value.kind(), false))
			continue
		}
		names := make(map[string]key, len(values))
		for j, v := range values {
			if name, ok := v.str(); ok {
				names[name] = key{member{name, v.at(), v}, fmt.Sprintf("%s[%d]", at, j)}
			}
		}
		if m.name == "allowed" {
			lists.allowed, lists.only = names, &key{m, at}
		} else {
			lists.excluded = names
		}
	}
	return lists
}

func geminiLists(r *entryReader, _ map[string]key) {
	if k, out := r.lists.excluded[r.server]; out {
		r.s.Disabled = true
		r.mark("disabled", k)
	} else if _, in := r.lists.allowed[r.server]; r.lists.only != nil && !in {
		r.s.Disabled = true
		r.mark("disabled", *r.lists.only)
	}
}
