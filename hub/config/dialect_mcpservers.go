package config

// dialectMcpServers is a file or a text of which no more can be told than that it holds "mcpServers": text that a host gives the hub, say. The
// keys of all are understood where they cannot be misunderstood. A timeout can, and a reference to a variable too.
var dialectMcpServers = dialect{
	name: DialectMcpServers, title: "a file of no known application",
	keys: usual.with(keys{
		"oauth":         web((*entryReader).oauth),
		"envFile":       local((*entryReader).envFile),
		"alwaysAllow":   each((*entryReader).allowed),
		"autoApprove":   each((*entryReader).allowed),
		"tools":         each((*entryReader).toolsOnly),
		"disabledTools": each((*entryReader).toolsHidden),
		"watchPaths":    local((*entryReader).watch),
		"dev":           each((*entryReader).dev),
		"timeout":       timeoutless,
		"isActive":      each((*entryReader).enabled),
		"transport":     each(readElsewhere),
		"transportType": each(readElsewhere),
		"gallery":       quiet, "version": quiet, "deferTools": quiet, "metadata": quiet,
		"sandboxEnabled": local((*entryReader).sandboxEnabled),
		"sandbox":        noSandbox, "network": noSandbox, "filesystem": noSandbox,
	}),
	words:     map[string]string{"serverUrl": "url", "httpUrl": "url"},
	urls:      []urlKey{{"url", TransportAuto}},
	rearrange: flatten,
}
