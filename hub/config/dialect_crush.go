package config

import (
	"strings"
	"time"
)

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
