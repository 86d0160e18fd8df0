package config

import (
	"regexp"
	"strings"
)

// dialectVSCode is mcp.json of VS Code: {"servers": {}, "inputs": []}. It has no timeout. If a server of type "http"
// does not speak Streamable HTTP, SSE is tried.
var dialectVSCode = dialect{
	name: DialectVSCode, title: "VS Code",
	keys: usual.with(keys{
		"envFile": local((*entryReader).envFile),
		"oauth":   web((*entryReader).oauth),
		"dev":     each((*entryReader).dev),
		"timeout": timeoutless,
		"gallery": quiet, "version": quiet, "metadata": quiet,
		"sandboxEnabled": local((*entryReader).sandboxEnabled),
		"sandbox":        noSandbox, "network": noSandbox, "filesystem": noSandbox,
		// VS Code keeps its approvals elsewhere. The hub has always accepted these keys in files that were written for it.
		"alwaysAllow": each((*entryReader).allowed),
		"autoApprove": each((*entryReader).allowed),
	}),
	words: map[string]string{"serverUrl": "url", "httpUrl": "url", "transport": "type", "transportType": "type",
		"watchPaths": "dev"},
	urls: []urlKey{{"url", TransportAuto}},
	types: map[string]string{
		"stdio": TransportStdio, "sse": TransportSSE, "http": TransportAuto, "streamable-http": TransportHTTP,
		"streamableHttp": TransportHTTP,
	},
	reference: braced,
	look:      mentions,
}

var inputReference = regexp.MustCompile(`\$\{input:([^}]*)\}`)

// mentions records the ids of the inputs that a text refers to, and reports references to commands, which make the
// start of the server fail.
func mentions(r *entryReader, key string, at int, text string) {
	if !strings.Contains(text, "${") {
		return
	}
	for _, m := range inputReference.FindAllStringSubmatch(text, -1) {
		if r.mentioned == nil {
			r.mentioned = map[string]bool{}
		}
		r.mentioned[m[1]] = true
	}
	if strings.Contains(text, "${command:") {
		r.warn(at, key,
			"has ${command:...}, which VS Code runs as a command: the hub runs no commands of a config file, and the server will not start")
	}
}
