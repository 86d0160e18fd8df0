package config

import "time"

// dialectPortable is {"mcpServers": {}} in .mcp.json and mcp-config.json, and of Claude Code. Its timeout is in milliseconds; "tools" are those
// that there are: "*" is all, an empty list none.
var dialectPortable = dialect{
	name: DialectPortable, title: "a portable file",
	keys: usual.with(keys{
		"tools":      each((*entryReader).toolsOnly),
		"timeout":    each(timeout{clock: total, unit: time.Millisecond}.read),
		"oauth":      web((*entryReader).oauth),
		"deferTools": quiet, "gallery": quiet, "version": quiet, "metadata": quiet,
	}),
	words: map[string]string{"serverUrl": "url", "httpUrl": "url", "transport": "type", "alwaysAllow": "approvals", "autoApprove": "approvals"},
	urls:  []urlKey{{"url", TransportAuto}},
	types: map[string]string{
		"stdio": TransportStdio, "local": TransportStdio, "sse": TransportSSE,
		"http": TransportHTTP, "streamable-http": TransportHTTP, "streamableHttp": TransportHTTP,
	},
	reference: bracedNames,
}
