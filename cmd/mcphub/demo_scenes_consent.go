package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// workspaceServer comes from a config file of a workspace. demoToken is the secret that it asks for.
const (
	workspaceServer = "demo-workspace"
	demoToken       = "hunter2-but-longer"
)

// sceneConsent shows a server of a workspace file. It is started only after a yes to exactly what would be run, and
// only the server gets the secret that it asks for.
func sceneConsent(ctx context.Context, s *stage) error {
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"demo-server", "--record", s.record(workspaceServer), "--greet", "signed in with ${input:token}"}
	type object = map[string]any
	file, err := s.configFile("project/.vscode/mcp.json", object{
		"inputs":  []object{{"id": "token", "type": "promptString", "description": "Token of the demo", "password": true}},
		"servers": object{workspaceServer: object{"command": executable, "args": args, "approvals": object{"*": "allow"}}},
	})
	if err != nil {
		return err
	}
	source := &mcphubv1.ConfigSource{Path: file, Scope: "workspace", Folder: filepath.Join(s.dir, "project")}
	if err := s.reload(ctx, source); err != nil {
		return err
	}
	s.page.says(you, "open a folder whose .vscode/mcp.json has a server, and call it")
	left, right := s.marks()
	run := s.call(context.WithoutCancel(ctx), &mcphubv1.CallToolRequest{Server: workspaceServer,
		Tool: "echo", ArgumentsJson: `{"text":"Hello, folder!"}`})
	card, err := s.card(ctx, left, right, workspaceServer)
	if err != nil {
		return err
	}
	launch := card.GetServerLaunch()
	if launch.GetCommand() != executable || !slices.Equal(launch.GetArgs(), args) {
		return fmt.Errorf("the card does not show the command as the file has it: %s %q", launch.GetCommand(),
			launch.GetArgs())
	}
	if _, err := os.Stat(s.record(workspaceServer)); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the server ran before you agreed: %v", err)
	}
	s.page.says(itself, "both windows: may %s be started? It would run", workspaceServer)
	s.page.says("", "%s %s", filepath.Base(launch.GetCommand()), strings.Join(launch.GetArgs(), " "))
	askLeft, askRight := s.marks()
	if err := s.left.answer(ctx, accept(card.GetPromptId(), "")); err != nil {
		return err
	}
	s.page.says(you, "Start it, in the %s", s.left.title)
	input, err := s.card(ctx, askLeft, askRight, workspaceServer)
	if err != nil {
		return err
	}
	if q := input.GetConfigInput(); q.GetInputId() != "token" || !q.GetSecret() {
		return fmt.Errorf("the card asks for %q, secret %v", q.GetInputId(), q.GetSecret())
	}
	s.page.says(itself, "both windows: %s? It is not shown while you type it", input.GetConfigInput().GetDescription())
	if err := s.right.answer(ctx, give(input.GetPromptId(), demoToken)); err != nil {
		return err
	}
	s.page.says(you, "type it, in the %s", s.right.title)
	text, err := run.text(ctx)
	if err != nil {
		return err
	}
	if text != "Hello, folder!" {
		return fmt.Errorf("echo answered %q", text)
	}
	s.page.says(server, "%s", text)
	return s.keptSecret(ctx)
}

// keptSecret checks that the server got the token, and that nobody else did.
func (s *stage) keptSecret(ctx context.Context) error {
	var greeting string
	if err := until(ctx, "the server's greeting on its stderr", func() (bool, error) {
		now, err := s.server(ctx, workspaceServer)
		if err != nil {
			return false, err
		}
		if text := string(jsonLine(now)); strings.Contains(text, demoToken) {
			return false, errors.New("the list of servers shows the token")
		}
		for _, line := range now.GetStderr() {
			if strings.Contains(line, "signed in with") {
				greeting = line
			}
		}
		return greeting != "", nil
	}); err != nil {
		return err
	}
	if !strings.Contains(greeting, "[redacted]") {
		return fmt.Errorf("the server did not get the token: its stderr says %q", greeting)
	}
	s.page.says(server, "on its stderr, as you see it: %s", greeting)
	for _, scr := range []*screen{s.left, s.right} {
		events, _, _ := scr.log.since(0)
		for _, e := range events {
			if strings.Contains(string(jsonLine(e)), demoToken) {
				return fmt.Errorf("an event in the %s holds the token", scr.title)
			}
		}
	}
	s.page.ok("nothing ran before you agreed, and the token is in no event, no list and no log")
	return nil
}
