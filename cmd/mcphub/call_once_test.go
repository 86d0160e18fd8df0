package main

import (
	"strings"
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestCallTellsAFailureOnce: only the last line says why a request failed, or its server, and no line before it, such
// as that of the server's state. Where the hub's error names a field of the contract, the command names the flag.
// Finding D9.
func TestCallTellsAFailureOnce(t *testing.T) {
	p := inBubbles(t)
	line, _ := p.demoServer()
	for _, test := range []struct {
		args       []string
		status     int
		once, last string
	}{
		{[]string{line, "--tool", "slep"}, exitUsage, `has no tool "slep"`, `did you mean "sleep"?`},
		{[]string{"'" + p.path + "' no-such-command", "echo"}, exitServer, "exited with status 2", "exited with status 2"},
		{[]string{line, "echo", "--args", "[1]"}, exitUsage, "--args wants one", "--args wants one"},
	} {
		r := p.run(append([]string{"call", "--approve", "allow", "--stdio"}, test.args...)...)
		lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
		if r.status != test.status || strings.Count(r.stderr, test.once) != 1 ||
			!strings.Contains(lines[len(lines)-1], test.last) || strings.Contains(r.stderr, "_json") {
			t.Errorf("%q: status %d:\n%s", test.args, r.status, r.stderr)
		}
	}
}

// TestHeldFailuresAreTold: the reason for which a server failed is held back until the end of the request that it
// serves. After that end, and for another server, it is told at once.
func TestHeldFailuresAreTold(t *testing.T) {
	failed := func(server string) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ServerChanged{
			ServerChanged: &mcphubv1.ServerChanged{Server: &mcphubv1.Server{Name: server, LastError: "why",
				State: mcphubv1.ServerState_SERVER_STATE_FAILED}}}}
	}
	tell := newTeller("r")
	tell.serves = "mine"
	if got := tell.lines(failed("mine")); len(got) != 1 || got[0] != "mine: failed" || tell.held != "why" {
		t.Errorf("while it runs: %q, held %q", got, tell.held)
	}
	if got := tell.lines(failed("other")); len(got) != 1 || got[0] != "other: failed: why" {
		t.Errorf("of another: %q", got)
	}
	for what, changed := range map[string]*mcphubv1.AttachResponse{
		"tools": {Event: &mcphubv1.AttachResponse_ToolsChanged{ToolsChanged: &mcphubv1.ToolsChanged{Server: "s"}}},
		"resources": {Event: &mcphubv1.AttachResponse_ResourcesChanged{
			ResourcesChanged: &mcphubv1.ResourcesChanged{Server: "s"}}},
		"prompt templates": {Event: &mcphubv1.AttachResponse_McpPromptsChanged{
			McpPromptsChanged: &mcphubv1.McpPromptsChanged{Server: "s"}}},
	} {
		if got := tell.lines(changed); len(got) != 0 {
			t.Errorf("told to a command that waits for a request: %q", got)
		}
		if got := newTeller("").lines(changed); len(got) != 1 || got[0] != "s: its "+what+" changed" {
			t.Errorf("told to a command that shows servers: %q", got)
		}
	}
	tell = newTeller("r")
	tell.serves = "mine"
	tell.lines(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestFinished{
		McpRequestFinished: &mcphubv1.McpRequestFinished{RequestId: "r"}}})
	if got := tell.lines(failed("mine")); len(got) != 1 || got[0] != "mine: failed: why" || tell.held != "" {
		t.Errorf("after the end: %q, held %q", got, tell.held)
	}
}

// TestFlagsInThePlaceOfSettings: an error names a flag instead of a setting in --stdio:1, which is no file.
func TestFlagsInThePlaceOfSettings(t *testing.T) {
	f := failuref("DEADLINE_EXCEEDED", `server "stdio" did not start within 3s; raise timeouts.connect in --stdio:1`)
	if got, want := f.message(), `server "stdio" did not start within 3s; raise --connect-timeout`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
