package events

import (
	"testing"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestHeldFailuresAreTold: the reason for which a server failed is held back until the end of the request that it
// serves. After that end, and for another server, it is told at once.
func TestHeldFailuresAreTold(t *testing.T) {
	failed := func(server string) *mcphubv1.AttachResponse {
		return &mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_ServerChanged{
			ServerChanged: &mcphubv1.ServerChanged{Server: &mcphubv1.Server{Name: server, LastError: "why",
				State: mcphubv1.ServerState_SERVER_STATE_FAILED}}}}
	}
	tell := NewTeller("r")
	tell.Serves = "mine"
	if got := tell.Lines(failed("mine")); len(got) != 1 || got[0] != "mine: failed" || tell.Held != "why" {
		t.Errorf("while it runs: %q, held %q", got, tell.Held)
	}
	if got := tell.Lines(failed("other")); len(got) != 1 || got[0] != "other: failed: why" {
		t.Errorf("of another: %q", got)
	}
	for what, changed := range map[string]*mcphubv1.AttachResponse{
		"tools": {Event: &mcphubv1.AttachResponse_ToolsChanged{ToolsChanged: &mcphubv1.ToolsChanged{Server: "s"}}},
		"resources": {Event: &mcphubv1.AttachResponse_ResourcesChanged{
			ResourcesChanged: &mcphubv1.ResourcesChanged{Server: "s"}}},
		"prompt templates": {Event: &mcphubv1.AttachResponse_McpPromptsChanged{
			McpPromptsChanged: &mcphubv1.McpPromptsChanged{Server: "s"}}},
	} {
		if got := tell.Lines(changed); len(got) != 0 {
			t.Errorf("told to a command that waits for a request: %q", got)
		}
		if got := NewTeller("").Lines(changed); len(got) != 1 || got[0] != "s: its "+what+" changed" {
			t.Errorf("told to a command that shows servers: %q", got)
		}
	}
	tell = NewTeller("r")
	tell.Serves = "mine"
	tell.Lines(&mcphubv1.AttachResponse{Event: &mcphubv1.AttachResponse_McpRequestFinished{
		McpRequestFinished: &mcphubv1.McpRequestFinished{RequestId: "r"}}})
	if got := tell.Lines(failed("mine")); len(got) != 1 || got[0] != "mine: failed: why" || tell.Held != "" {
		t.Errorf("after the end: %q, held %q", got, tell.Held)
	}
}
