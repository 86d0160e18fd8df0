package mcp

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/config/edit"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// client is an MCP client whose settings mcphub knows.
type client struct {
	file, dialect string
	note          string // another way to add the gateway, with %s for its command line
	token         string // how its file refers to the token of a gateway over HTTP; "": the client starts commands only
}

const (
	// tokenVariable is the variable in which a client finds the token of a gateway over HTTP, so that no file of the
	// client holds the token.
	tokenVariable = "MCPHUB_TOKEN"
	// tokenPlace is the placeholder for the token in the file of a client that does not replace variables.
	tokenPlace = "TOKEN"
	// tokenInput is the input by which VS Code asks for the token.
	tokenInput = "mcphub-token"
)

var clients = map[string]client{
	"vscode": {".vscode/mcp.json", config.DialectVSCode, "", "${input:" + tokenInput + "}"},
	"claude-code": {".mcp.json", config.DialectPortable, "or: claude mcp add mcphub -- %s",
		"${" + tokenVariable + "}"},
	"claude-desktop": {"claude_desktop_config.json", config.DialectDesktop, "", ""},
	"cursor":         {"~/.cursor/mcp.json", config.DialectCursor, "", "${env:" + tokenVariable + "}"},
	"gemini":         {"~/.gemini/settings.json", config.DialectGemini, "", "${" + tokenVariable + "}"},
	"zed":            {"~/.config/zed/settings.json", config.DialectMcpServers, "", tokenPlace},
	"opencode":       {"opencode.json", config.DialectOpencode, "", "{env:" + tokenVariable + "}"},
	"codex":          {"~/.codex/config.toml", config.DialectCodex, "or: codex mcp add mcphub -- %s", tokenVariable},
}

func clientNames() []string { return slices.Sorted(maps.Keys(clients)) }

// print prints a file of the client that has the gateway alone.
func (c client) print(s console.Streams, gateway edit.Form) error {
	out, err := edit.Add(config.Source{Path: c.file, Dialect: c.dialect}, "mcphub", gateway, edit.Settings{})
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(out.Text))
	if c.token == tokenPlace { // Zed differs in the name of this member alone
		text = strings.Replace(text, `"mcpServers"`, `"context_servers"`, 1)
	}
	s.Say("for %s:", c.file)
	fmt.Fprintln(s.Out, text)
	return nil
}

// printClientConfig prints the entry for a client's settings that starts this gateway or, with --http, has its URL.
func printClientConfig(o *options) error {
	c, known := clients[o.printConfig]
	if !known {
		return fmt.Errorf("--print-config %s: the clients are %s", strconv.Quote(o.printConfig),
			strings.Join(clientNames(), ", "))
	}
	args, err := o.arguments()
	if err != nil {
		return err
	}
	command := ownCommand()
	if o.http != "" {
		return c.printRemote(o, append([]string{command}, args...))
	}
	if err := c.print(o.Streams, edit.Form{Entry: &edit.Entry{Command: command, Args: args}}); err != nil {
		return err
	}
	if !o.window && o.gateway.Approval == "" && o.gateway.Profile == "" {
		o.Say("where the config says that somebody is asked before a call, it fails there: print this again with " +
			"--approval client if the client asks its user itself, or with --window for a page that asks")
	}
	if c.note != "" {
		o.Say(c.note, console.ShellLine(append([]string{command}, args...)))
	}
	return nil
}

// printRemote prints the entry with which the client reaches the gateway that this command line starts.
func (c client) printRemote(o *options, command []string) error {
	address, err := gateway.Loopback(o.http)
	switch {
	case c.token == "":
		return fmt.Errorf("--print-config %s: this client starts commands only: leave --http out", o.printConfig)
	case err != nil:
		return fmt.Errorf("--http: %w", err)
	case strings.HasSuffix(address, ":0"):
		return errors.New("--http: with port 0 the address is another one at each start: name a port")
	case o.tokenFile == "":
		return errors.New("--print-config with --http wants --token-file: else the token is a new one at each start")
	}
	if _, err := o.token(); err != nil {
		return err
	}
	file, err := filepath.Abs(o.tokenFile)
	if err != nil {
		return err
	}
	url := "http://" + address + gateway.Path
	form := edit.Form{Entry: &edit.Entry{URL: url, Transport: config.TransportHTTP,
		Header: map[string]string{"Authorization": "Bearer " + c.token}}}
	todo := "start the client with the token of %s in the variable " + tokenVariable
	switch {
	case c.dialect == config.DialectVSCode:
		form.Inputs = []config.Input{{ID: tokenInput, Description: "Token of mcphub mcp", Secret: true}}
		todo = "VS Code asks for the token: that of %s"
	case c.dialect == config.DialectCodex: // it has a key of its own for the variable
		form = edit.Form{Dialect: c.dialect, JSON: fmt.Sprintf(`{"url": %q, "bearer_token_env_var": %q}`, url, c.token)}
	case c.token == tokenPlace:
		form.Entry.Transport = "" // it has no word for it
		todo = "put the token of %s in the place of " + tokenPlace
	}
	if err := c.print(o.Streams, form); err != nil {
		return err
	}
	o.Say(todo+"; the gateway is started by: %s", file,
		console.ShellLine(append(command, "--http", address, "--token-file", file)))
	return nil
}

// arguments returns the arguments that start the same gateway from any folder.
func (o *options) arguments() ([]string, error) {
	if o.Single() != "" {
		return nil, fmt.Errorf("--print-config prints a gateway to config files: a client that wants the one server of --%s "+
			"starts that itself", o.Single())
	}
	args := []string{"mcp"}
	for _, file := range o.Configs {
		whole, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		args = append(args, whole)
	}
	g, bound := o.gateway, ""
	if g.MaxTokens > 0 {
		bound = strconv.Itoa(g.MaxTokens)
	}
	for _, flag := range [][2]string{{"profile", g.Profile}, {"approval", g.Approval}, {"questions", g.Questions},
		{"tools", g.Tools}, {"max-tokens", bound}} {
		if flag[1] != "" {
			args = append(args, "--"+flag[0], flag[1])
		}
	}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"plain-names", g.PlainNames}, {"window", o.window}, {"open", o.page.Open}} {
		if flag.on {
			args = append(args, "--"+flag.name)
		}
	}
	return args, nil
}

// ownCommand returns the command with which others can start this program: its name if PATH leads to it, else its path.
func ownCommand() string {
	own, err := os.Executable()
	if found, missing := exec.LookPath("mcphub"); err != nil || missing == nil && isThisProgram(found) {
		return "mcphub"
	}
	return own
}

// isThisProgram reports whether a path leads to this executable.
func isThisProgram(path string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	here, err1 := os.Stat(own)
	there, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(here, there)
}
