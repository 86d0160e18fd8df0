package hub

import (
	"context"
	"testing"
)

// BenchmarkWorkspacePolicy measures the policy of a workspace's server, which a call asks for several times with the
// hub's lock held.
func BenchmarkWorkspacePolicy(b *testing.B) {
	h := New(Options{})
	defer h.Close(context.Background())
	_, _, _, err := h.LoadConfig(context.Background(), []ConfigSource{{Path: "/w/.vscode/mcp.json", Scope: "workspace", Folder: "/w", JSON: `{"servers":{"s":{
		"command":"npx","args":["-y","@x/y","${workspaceFolder}/a"],"env":{"A":"${env:TOKEN}","B":"x"},"alwaysAllow":["a","b","*"]}}}`}})
	if err != nil {
		b.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.state.server("s")
	b.ReportAllocs()
	for b.Loop() {
		h.state.core.ToolTerms(s.number, "a")
	}
}
