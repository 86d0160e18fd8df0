package config

import "time"

// dialectPortable is {"mcpServers": {}} in .mcp.json and mcp-config.json, and of Claude Code. Its timeout is in
// milliseconds. "tools" are the visible tools: "*" means all, an empty list none.
var dialectPortable = dialect{
	name: DialectPortable, title: "a portable file",
	keys: usual.with(keys{
		"tools":   each((*entryReader).toolsOnly),
		"timeout": each(timeout{clock: total, unit: time.Millisecond}.read),
		"oauth":   web(claudeOAuth),
		"headersHelper": web(
			missing("it names a command that makes headers, and the hub runs no commands of a config file").read),
		"deferTools": quiet, "alwaysLoad": quiet, "gallery": quiet, "version": quiet, "metadata": quiet,
	}),
	words: map[string]string{"serverUrl": "url", "httpUrl": "url", "transport": "type", "alwaysAllow": "approvals",
		"autoApprove": "approvals"},
	urls: []urlKey{{"url", TransportAuto}},
	types: map[string]string{
		"stdio": TransportStdio, "local": TransportStdio, "sse": TransportSSE,
		"http": TransportHTTP, "streamable-http": TransportHTTP, "streamableHttp": TransportHTTP,
	},
	reference: bracedNames,
	forms:     `${NAME} and ${NAME:-default}`,
}

// claudeOAuth reads "oauth" of Claude Code, which has its own word for the port, and a way to replace the server's
// metadata; the hub always uses the metadata.
func claudeOAuth(r *entryReader, k key) {
	r.settings(k, func(k key) bool {
		switch k.name {
		case "callbackPort":
			return r.oauthSetting(k, "redirectPort")
		case "authServerMetadataUrl":
			r.warn(k.at, k.path, "is ignored: the hub signs in as the server's metadata say")
			return true
		}
		return r.oauthSetting(k, k.name)
	})
}

// dialectDesktop is claude_desktop_config.json: processes only, no variables, no timeout, no approvals. "cwd" is not
// documented, but many files have it, and it can have only one meaning.
var dialectDesktop = dialect{
	name: DialectDesktop, title: "Claude Desktop",
	keys: keys{
		"type":    each(readElsewhere),
		"command": local((*entryReader).command),
		"args":    local((*entryReader).args),
		"env":     local((*entryReader).env),
		"cwd":     local((*entryReader).cwd),
		"timeout": timeoutless,
		"url":     addressInDesktop, "serverUrl": addressInDesktop, "httpUrl": addressInDesktop,
	},
	words: map[string]string{"alwaysAllow": "approvals", "autoApprove": "approvals"},
	urls:  []urlKey{{"url", TransportAuto}, {"serverUrl", TransportAuto}, {"httpUrl", TransportAuto}},
}

var addressInDesktop = each(func(r *entryReader, k key) {
	r.fail(k.at, k.path,
		"Claude Desktop has no servers with a URL in this file: there they are connectors of the application")
})
