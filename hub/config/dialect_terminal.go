package config

import (
	"slices"
	"strings"
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
	switch yes := r.truth(k); {
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

func (l *loader) serverLists(root []member) (lists serverLists) {
	i := slices.IndexFunc(root, func(m member) bool { return m.name == "mcp" })
	if i < 0 {
		return lists
	}
	members, _ := root[i].value.object()
	for _, m := range l.distinct(members, "", "mcp") {
		if m.name != "allowed" && m.name != "excluded" || m.value.isNull() {
			continue
		}
		r, in := reader{loader: l}, key{m, path("mcp", m.name)}
		names := map[string]key{}
		for at, v := range r.elements(m.value, in.path, "an array of the names of servers") {
			if name, ok := v.str(); ok {
				names[name] = key{member{name, v.at(), v}, at}
			}
		}
		switch {
		case r.broken:
		case m.name == "allowed":
			lists.allowed, lists.only = names, &in
		default:
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

// dialectOpencode is {"mcp": {}} of opencode. "command" is a whole argument vector, and a server is "local" or
// "remote". Its timeout is in milliseconds, and is that of the start; since version 2 it may be an object with a
// timeout for the start and one for a request. References are {env:NAME} and {file:PATH}.
var dialectOpencode = dialect{
	name: DialectOpencode, title: "opencode",
	keys: keys{
		"type":        each(readElsewhere),
		"command":     local((*entryReader).argv),
		"environment": local((*entryReader).env),
		"cwd":         local((*entryReader).cwd),
		"url":         web((*entryReader).url),
		"headers":     web((*entryReader).headers),
		"timeout":     each(opencodeTimeout),
		"oauth":       web(opencodeOAuth),
	},
	words: map[string]string{"env": "environment", "args": "command", "serverUrl": "url", "httpUrl": "url",
		"transport": "type"},
	urls: []urlKey{{"url", TransportAuto}},
	types: map[string]string{
		"local": TransportStdio, "remote": TransportAuto,
		"stdio": TransportStdio, "http": TransportHTTP, "sse": TransportSSE, // not words of opencode, but unambiguous
	},
	reference: curly,
	forms:     `{env:NAME} and {file:PATH}`,
	merges:    true,
}

// argv reads a command with its arguments from one array.
func (r *entryReader) argv(k key) {
	if _, isText := k.value.str(); isText {
		r.fail(k.value.at(), k.path,
			"must be an array of strings, is a string: it holds the program and its arguments, each as one")
		return
	}
	words := r.texts(k.path, k.value)
	if words == nil {
		if _, ok := k.value.array(); ok {
			r.fail(k.value.at(), k.path, "must not be empty")
		}
		return
	}
	if r.s.Command = words[0]; blank(words[0]) && !r.broken {
		r.fail(k.value.at(), k.path, "must not be empty")
	}
	r.markElement("command", k, 0)
	if r.s.Args = words[1:]; len(r.s.Args) > 0 {
		r.markElement("args", k, 1)
	}
}

func opencodeTimeout(r *entryReader, k key) {
	start := timeout{clock: connect, unit: time.Millisecond}
	if _, ok := k.value.object(); !ok {
		start.read(r, k)
		return
	}
	r.settings(k, func(k key) bool {
		switch k.name {
		case "startup":
			start.read(r, k)
		case "request":
			timeout{clock: total, unit: time.Millisecond}.read(r, k)
		default:
			return false
		}
		return true
	})
}

func opencodeOAuth(r *entryReader, k key) {
	// false means: do not try to sign in. The hub signs in only if the server asks for it.
	if on, ok := k.value.boolean(); ok && !on {
		return
	}
	r.oauthNamed(k, map[string]string{
		"clientId": "clientId", "clientSecret": "clientSecret", "scope": "scopes",
		"client_id": "clientId", "client_secret": "clientSecret", "callbackPort": "redirectPort", "redirectUri": "",
	})
}

// dialectCrush is {"mcp": {}} of Crush. Its timeout is in seconds, and is that of the start. Crush expands references
// like a shell, and runs what is in $(...). The hub runs no command, and refuses such an entry.
var dialectCrush = dialect{
	name: DialectCrush, title: "Crush",
	keys: usual.with(keys{
		"timeout":             each(timeout{clock: connect, unit: time.Second}.read),
		"disabled_tools":      each((*entryReader).toolsHidden),
		"enabled_tools":       each(enabledTools),
		"oauth":               quiet,
		"oauth_token":         quiet, // tokens that Crush itself has fetched
		"oauth_callback_port": web(oauthAs("redirectPort")),
		"oauth_client_id":     web(oauthAs("clientId")),
		"oauth_client_secret": web(oauthAs("clientSecret")),
		"oauth_scopes":        web(oauthAs("scopes")),
	}),
	words:     map[string]string{"serverUrl": "url", "httpUrl": "url", "transport": "type", "environment": "env"},
	urls:      []urlKey{{"url", TransportAuto}},
	typed:     typeAlways,
	reference: shellNames,
	merges:    true,
	look:      refuseCommands,
}

// enabledTools reads the visible tools. For Crush, an empty list is no list.
func enabledTools(r *entryReader, k key) {
	if values, ok := k.value.array(); ok && len(values) == 0 {
		return
	}
	r.toolsOnly(k)
}

func refuseCommands(r *entryReader, key string, at int, text string) {
	if strings.Contains(text, "$(") || strings.Contains(text, "`") {
		r.fail(at, key, "has $(...) or backquotes, which Crush runs as a command: the hub runs no commands of a config file")
	}
}
