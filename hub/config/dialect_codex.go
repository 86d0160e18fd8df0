package config

import (
	"net/textproto"
	"strings"
	"time"
)

// dialectCodex is [mcp_servers.NAME] in config.toml of Codex. Its timeouts are in seconds, with fractions: one for the
// start and one for a tool call. Nothing in its texts is expanded. Values from the environment have keys of their own,
// and go into Server.EnvRefs.
var dialectCodex = dialect{
	name: DialectCodex, title: "Codex",
	keys: keys{
		"command":              local((*entryReader).command),
		"args":                 local((*entryReader).args),
		"env":                  local((*entryReader).env),
		"env_vars":             local(envVars),
		"cwd":                  local((*entryReader).cwd),
		"url":                  web((*entryReader).url),
		"http_headers":         web((*entryReader).headers),
		"env_http_headers":     web(envHeaders),
		"bearer_token_env_var": web(bearerVariable),
		"bearer_token": web(func(r *entryReader, k key) {
			r.fail(k.at, k.path, `Codex takes no token here; name the variable that holds it in "bearer_token_env_var"`)
		}),
		"required":                     each(required),
		"startup_timeout_sec":          each(timeout{clock: connect, unit: time.Second}.read),
		"startup_timeout_ms":           each(timeout{clock: connect, unit: time.Millisecond, weak: true}.read),
		"tool_timeout_sec":             each(timeout{clock: total, unit: time.Second}.read),
		"enabled_tools":                each((*entryReader).toolsOnly),
		"disabled_tools":               each((*entryReader).toolsHidden),
		"default_tools_approval_mode":  each(func(r *entryReader, k key) { r.approvalMode(k, "*") }),
		"tools":                        each(codexTools),
		"scopes":                       web(oauthAs("scopes")),
		"oauth":                        web(oauthIn(map[string]string{"client_id": "clientId"})),
		"oauth_resource":               missing("the hub asks for tokens of the server's own address"),
		"supports_parallel_tool_calls": quiet, "name": quiet, "environment_id": quiet, "experimental_environment": quiet,
	},
	words: map[string]string{"headers": "http_headers", "environment": "env", "timeout": "tool_timeout_sec",
		"disabledTools": "disabled_tools"},
	urls:   []urlKey{{"url", TransportHTTP}},
	merges: true,
}

// required makes the server eager: Codex does not start without such a server.
func required(r *entryReader, k key) {
	if r.truth(k) {
		r.s.Start = StartEager
		r.mark("start", k)
	}
}

// inheritEnv reads the names of variables that the server inherits from the hub's environment. "env" overrides them.
func (r *entryReader) inheritEnv(k key) {
	for at, v := range r.elements(k.value, k.path, "an array of names of variables") {
		name, ok := v.str()
		r.inherit(at, v, name, ok, "must be the name of a variable, is "+v.kind())
	}
}

// envVars is inheritEnv with the word of Codex, which also has tables.
func envVars(r *entryReader, k key) {
	for at, v := range r.elements(k.value, k.path, "an array of names of variables") {
		name, ok := v.str()
		if members, isTable := v.object(); isTable {
			for _, m := range r.distinct(members, r.server, at) {
				switch s, isText := m.value.str(); {
				case m.name == "name" && isText:
					name, ok = s, true
				case m.name == "source" && s != "local":
					r.warn(m.at, path(at, m.name),
						`is ignored: the hub takes variables from its own environment, which is "local"`)
				}
			}
		}
		r.inherit(at, v, name, ok, `must be the name of a variable, or a table with "name"`)
	}
}

func (r *entryReader) inherit(at string, v value, name string, ok bool, wrong string) {
	switch {
	case !ok:
		r.fail(v.at(), at, "%s", wrong)
	case badVariable(name):
		r.fail(v.at(), at, badVariableText)
	default:
		r.refer("env."+name, name, name, key{member{"", v.at(), v}, at})
	}
}

// envHeaders reads headers whose values are those of variables; they override "http_headers".
func envHeaders(r *entryReader, k key) {
	for at, m := range r.members(k.value, k.path, "a table of headers and names of variables") {
		name := textproto.CanonicalMIMEHeaderKey(m.name)
		variable, isText := m.value.str()
		switch {
		case !r.headerName(m, at):
		case !isText:
			r.wrong(m.value, at, "the name of a variable")
		case badVariable(variable):
			r.fail(m.value.at(), at, badVariableText)
		default:
			r.refer("headers."+name, name, variable, key{m, at})
		}
	}
}

// bearerVariable reads the name of the variable whose value is the token.
func bearerVariable(r *entryReader, k key) {
	variable, ok := k.value.str()
	switch {
	case !ok:
		r.wrong(k.value, k.path, "the name of a variable")
	case badVariable(variable):
		r.fail(k.value.at(), k.path, badVariableText)
	default:
		r.s.BearerEnv = variable
		r.mark("headers.Authorization", k)
	}
}

// refer makes the value of a variable the value of an environment variable or header of the server.
func (r *entryReader) refer(field, name, variable string, k key) {
	if r.s.EnvRefs == nil {
		r.s.EnvRefs = map[string]string{}
	}
	r.s.EnvRefs[name] = variable
	if _, said := r.s.Env[name]; !said {
		r.mark(field, k)
	}
}

// codexTools reads tables that have the settings of one tool each.
func codexTools(r *entryReader, k key) {
	for at, tool := range r.members(k.value, k.path, "a table of tools") {
		if tool.name == "" {
			r.fail(tool.at, at, "the name of a tool must not be empty")
			continue
		}
		for inner, m := range r.members(tool.value, at, "a table") {
			if m.name == "approval_mode" {
				r.approvalMode(key{m, inner}, tool.name)
			} else {
				r.warn(m.at, inner, "is not known and was ignored")
			}
		}
	}
}

// approvalMode reads when Codex asks before a tool is called. With "auto" and "writes", Codex decides by hints of the
// server, which the hub does not trust; so the hub always asks.
func (r *entryReader) approvalMode(k key, pattern string) {
	mode, _ := k.value.str()
	policy, ok := map[string]Policy{"approve": Allow, "prompt": Ask, "auto": Ask, "writes": Ask}[mode]
	if !ok {
		r.fail(k.value.at(), k.path, `must be "auto", "prompt", "writes" or "approve"`)
		return
	}
	r.approve(pattern, policy, r.place(k))
}

const badVariableText = `the name of a variable must not be empty or hold "=" or a zero byte`

func badVariable(name string) bool { return name == "" || strings.ContainsAny(name, "=\x00") }
