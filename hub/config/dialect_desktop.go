package config

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
