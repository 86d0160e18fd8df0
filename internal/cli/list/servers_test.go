package list

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestServerRows: a row names a process by its program, a server behind a URL by its address and transport, and a
// broken entry by its problem. Where they matter, it has the scope of the file, whether the server may start, and what
// the hub will do by itself.
func TestServerRows(t *testing.T) {
	now := time.Unix(1e9, 0)
	rows := serverRows([]*mcphubv1.Server{
		{Name: "ok", State: mcphubv1.ServerState_SERVER_STATE_READY, Era: mcphubv1.Era_ERA_LEGACY,
			ProtocolRevision: "2025-11-25",
			Transport:        mcphubv1.ServerTransport_SERVER_TRANSPORT_STDIO, Command: "/usr/bin/srv", ConfigFile: "mcp.json",
			ConfigLine: 3},
		{Name: "far", State: mcphubv1.ServerState_SERVER_STATE_READY, Era: mcphubv1.Era_ERA_MODERN,
			ProtocolRevision: "2026-07-28",
			Transport:        mcphubv1.ServerTransport_SERVER_TRANSPORT_HTTP, Url: "https://a.example/mcp",
			SignIn:     mcphubv1.SignInState_SIGN_IN_STATE_SIGNED_IN,
			ConfigFile: "mcp.json", ConfigLine: 5},
		{Name: "locked", State: mcphubv1.ServerState_SERVER_STATE_FAILED, Url: "https://b.example/sse",
			SignIn:     mcphubv1.SignInState_SIGN_IN_STATE_NEEDED,
			ConfigFile: "mcp.json", ConfigLine: 7, LastError: "the sign-in was declined"},
		{Name: "broken", State: mcphubv1.ServerState_SERVER_STATE_BROKEN, ConfigFile: "mcp.json", ConfigLine: 9,
			LastError: "later",
			Problems:  []*mcphubv1.ConfigProblem{{Message: "odd"}, {Key: "command", Message: "is missing", Fatal: true}}},
		{Name: "theirs", State: mcphubv1.ServerState_SERVER_STATE_STOPPED, Command: "npx", ConfigFile: ".mcp.json",
			ConfigLine: 2, ConfigDialect: "portable",
			ConfigScope: "workspace", LaunchConsent: mcphubv1.LaunchConsent_LAUNCH_CONSENT_NEEDED,
			Start: mcphubv1.ServerStart_SERVER_START_EAGER},
		{Name: "no", State: mcphubv1.ServerState_SERVER_STATE_FAILED, ConfigScope: "host", ConfigDialect: "mcpServers",
			LaunchConsent: mcphubv1.LaunchConsent_LAUNCH_CONSENT_DECLINED, Start: mcphubv1.ServerStart_SERVER_START_LAZY},
		{Name: "falls", State: mcphubv1.ServerState_SERVER_STATE_FAILED, ConfigDialect: "codex", ConfigFile: "config.toml",
			Failures:      3,
			NextStartTime: timestamppb.New(now.Add(4 * time.Second)), LastError: "it ended",
			LastExit: "exit status 3 while running"},
		{Name: "fell", State: mcphubv1.ServerState_SERVER_STATE_FAILED, Failures: 1, LastError: "it ended: exit status 3",
			LastExit:      "exit status 3",
			NextStartTime: timestamppb.New(now.Add(-time.Second))},
	}, now)
	want := [][]string{
		{"ok", "ready", "legacy", "2025-11-25", "stdio", "srv", "mcp.json:3", "-"},
		{"far", "ready, signed in", "modern", "2026-07-28", "http", "https://a.example/mcp", "mcp.json:5", "-"},
		{"locked", "failed, not signed in", "-", "-", "-", "https://b.example/sse", "mcp.json:7", "the sign-in was declined"},
		{"broken", "broken", "-", "-", "-", "-", "mcp.json:9", "command: is missing (and 2 more)"},
		{"theirs", "stopped, asks before it starts, eager", "-", "-", "-", "npx", ".mcp.json:2 (portable, workspace)", "-"},
		{"no", "failed, start declined", "-", "-", "-", "-", "-", "-"},
		{"falls", "failed, 3 failures, next start in 4s", "-", "-", "-", "-", "config.toml (codex)", "it ended (and 1 more)"},
		{"fell", "failed, 1 failure, next start in 0s", "-", "-", "-", "-", "-", "it ended: exit status 3"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
