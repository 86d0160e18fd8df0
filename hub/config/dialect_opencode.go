package config

import "time"

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
