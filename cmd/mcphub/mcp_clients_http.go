package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mcphub-go/mcphub/ipc/gateway"
)

const (
	// tokenVariable is the variable in which a client finds the token of a gateway over HTTP, so that no file of the
	// client holds the token.
	tokenVariable = "MCPHUB_TOKEN"
	// tokenPlace is the placeholder for the token in the file of a client that does not replace variables.
	tokenPlace = "TOKEN"

	setVariable = "start the client with the token of %s in the variable " + tokenVariable
)

// remoteConfig describes an entry with a URL, and how the client gets the token.
type remoteConfig struct {
	entry func(url string) string
	token string // what the user has to do, with %s for the file of the token
}

// remoteEntry is an entry of a JSON file with a URL.
type remoteEntry struct {
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

// remote returns the config for an entry within the member around. kind is the client's word for Streamable HTTP, "" if
// it has none, and token is how the client spells the token's variable.
func remote(around, kind, token string) *remoteConfig {
	todo := setVariable
	if token == tokenPlace {
		todo = "put the token of %s in the place of " + tokenPlace
	}
	return &remoteConfig{token: todo, entry: func(url string) string {
		return indented(map[string]any{around: map[string]any{"mcphub": remoteEntry{kind, url, authorization(token)}}})
	}}
}

// remoteVSCode is for VS Code, which asks for the token and keeps it.
var remoteVSCode = remoteConfig{token: "VS Code asks for the token: that of %s", entry: func(url string) string {
	type input struct {
		Type        string `json:"type"`
		ID          string `json:"id"`
		Description string `json:"description"`
		Password    bool   `json:"password"`
	}
	return indented(struct {
		Inputs  []input                `json:"inputs"`
		Servers map[string]remoteEntry `json:"servers"`
	}{[]input{{"promptString", "mcphub-token", "Token of mcphub mcp", true}},
		map[string]remoteEntry{"mcphub": {"http", url, authorization("${input:mcphub-token}")}}})
}}

var remoteCodex = remoteConfig{token: setVariable, entry: func(url string) string {
	return fmt.Sprintf("[mcp_servers.mcphub]\nurl = %s\nbearer_token_env_var = %q", tomlString(url), tokenVariable)
}}

func authorization(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

func indented(value any) string {
	text, _ := json.MarshalIndent(value, "", "  ")
	return string(text)
}

// printRemoteConfig prints the entry with which a client reaches the gateway that this command line starts.
func printRemoteConfig(env environment, o *mcpOptions, client clientConfig, command []string) int {
	address, err := gateway.Loopback(o.http)
	switch {
	case client.at == nil:
		err = fmt.Errorf("--print-config %s: this client starts commands only: leave --http out", o.printConfig)
	case err != nil:
		err = fmt.Errorf("--http: %w", err)
	case strings.HasSuffix(address, ":0"):
		err = errors.New("--http: with port 0 the address is another one at each start: name a port")
	case o.tokenFile == "":
		err = errors.New("--print-config with --http wants --token-file: else the token is a new one at each start")
	default:
		_, err = o.token()
	}
	if err != nil {
		return usageError(env, "mcp", err)
	}
	file, err := filepath.Abs(o.tokenFile)
	if err != nil {
		return usageError(env, "mcp", err)
	}
	env.say("for %s:", client.file)
	fmt.Fprintln(env.stdout, client.at.entry("http://"+address+gateway.Path))
	env.say("%s; the gateway is started by: %s", fmt.Sprintf(client.at.token, file),
		shellLine(append(command, "--http", address, "--token-file", file)))
	return exitOK
}
