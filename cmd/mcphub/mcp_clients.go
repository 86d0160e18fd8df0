package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// clientConfig describes the settings of a client: its file, an entry that starts a command, and one with a URL. at is
// nil if the client can only start commands.
type clientConfig struct {
	file  string
	entry func(command string, args []string) string
	note  string
	at    *remoteConfig
}

// members returns a function that makes an entry of a JSON file, within the member around.
func members(around string, entry func(command string, args []string) any) func(string, []string) string {
	return func(command string, args []string) string {
		return indented(map[string]any{around: map[string]any{"mcphub": entry(command, args)}})
	}
}

func commandAndArgs(command string, args []string) any {
	return struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}{command, args}
}

// clients are the clients whose settings mcphub knows.
var clients = map[string]clientConfig{
	"vscode": {file: ".vscode/mcp.json", entry: members("servers", func(command string, args []string) any {
		return struct {
			Type    string   `json:"type"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}{"stdio", command, args}
	}), at: &remoteVSCode},
	"claude-code": {file: ".mcp.json", entry: members("mcpServers", commandAndArgs),
		note: "or: claude mcp add mcphub -- %s", at: remote("mcpServers", "http", "${"+tokenVariable+"}")},
	"claude-desktop": {file: "claude_desktop_config.json", entry: members("mcpServers", commandAndArgs)},
	"cursor": {file: "~/.cursor/mcp.json", entry: members("mcpServers", commandAndArgs),
		at: remote("mcpServers", "", "${env:"+tokenVariable+"}")},
	"gemini": {file: "~/.gemini/settings.json", entry: members("mcpServers", commandAndArgs),
		at: remote("mcpServers", "http", "${"+tokenVariable+"}")},
	"zed": {file: "~/.config/zed/settings.json", entry: members("context_servers", commandAndArgs),
		at: remote("context_servers", "", tokenPlace)},
	"opencode": {file: "opencode.json", entry: members("mcp", func(command string, args []string) any {
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
			Enabled bool     `json:"enabled"`
		}{"local", append([]string{command}, args...), true}
	}), at: remote("mcp", "remote", "{env:"+tokenVariable+"}")},
	"codex": {file: "~/.codex/config.toml", entry: func(command string, args []string) string {
		quoted := make([]string, len(args))
		for i, a := range args {
			quoted[i] = tomlString(a)
		}
		return fmt.Sprintf("[mcp_servers.mcphub]\ncommand = %s\nargs = [%s]", tomlString(command), strings.Join(quoted, ", "))
	}, note: "or: codex mcp add mcphub -- %s", at: &remoteCodex},
}

// tomlString returns a basic string of TOML, which has the escapes of JSON.
func tomlString(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func clientNames() []string { return slices.Sorted(maps.Keys(clients)) }

// printClientConfig prints the entry for a client's settings that starts this gateway or, with --http, has its URL.
func printClientConfig(env environment, o *mcpOptions) int {
	client, known := clients[o.printConfig]
	if !known {
		return usageError(env, "mcp", fmt.Errorf("--print-config %s: the clients are %s", strconv.Quote(o.printConfig),
			strings.Join(clientNames(), ", ")))
	}
	args, err := o.arguments()
	if err != nil {
		return usageError(env, "mcp", err)
	}
	command := ownCommand()
	if o.http != "" {
		return printRemoteConfig(env, o, client, append([]string{command}, args...))
	}
	env.say("for %s:", client.file)
	fmt.Fprintln(env.stdout, client.entry(command, args))
	if client.note != "" {
		env.say(client.note, shellLine(append([]string{command}, args...)))
	}
	return exitOK
}

// arguments returns the arguments that start the same gateway from any folder.
func (o *mcpOptions) arguments() ([]string, error) {
	if o.single() != "" {
		return nil, fmt.Errorf("--print-config prints a gateway to config files: a client that wants the one server of --%s "+
			"starts that itself", o.single())
	}
	args := []string{"mcp"}
	for _, file := range o.configs {
		whole, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		args = append(args, whole)
	}
	bound := ""
	if o.maxTokens > 0 {
		bound = strconv.Itoa(o.maxTokens)
	}
	for _, flag := range [][2]string{{"profile", o.profile}, {"approval", o.approval}, {"questions", o.questions},
		{"tools", o.tools}, {"max-tokens", bound}} {
		if flag[1] != "" {
			args = append(args, "--"+flag[0], flag[1])
		}
	}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"plain-names", o.plainNames}, {"window", o.window}, {"open", o.page.open}} {
		if flag.on {
			args = append(args, "--"+flag.name)
		}
	}
	return args, nil
}

// ownCommand returns the command with which others can start this program: its name if PATH leads to it, else its path.
func ownCommand() string {
	own, err := os.Executable()
	if err != nil {
		return "mcphub"
	}
	if found, err := exec.LookPath("mcphub"); err == nil {
		a, err1 := os.Stat(own)
		b, err2 := os.Stat(found)
		if err1 == nil && err2 == nil && os.SameFile(a, b) {
			return "mcphub"
		}
	}
	return own
}
