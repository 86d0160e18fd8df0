package config

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
