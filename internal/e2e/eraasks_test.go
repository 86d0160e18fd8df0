//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// TestAskingServersOfTwoEras: servers on the Go SDK and on mcp-go connect as modern ones, where a tool that was written
// for the legacy era cannot ask. The failed call says what to do; the next one asks, over a legacy connection.
// Finding D4.
func TestAskingServersOfTwoEras(t *testing.T) {
	for name, command := range map[string]func(testing.TB) (string, []string){"gosdk": peers.GoSDK.Stdio,
		"mcpgo": peers.MCPGo.Stdio} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := map[string]func() error{"gosdk": goSDK, "mcpgo": mcpGo}[name](); err != nil {
				t.Fatal(err)
			}
			p := newPlace(t)
			path, args := command(t)
			d := p.spawn()
			w := d.window("side bar")
			d.load(servers{"peer": {Command: path, Args: args, Approvals: allowAll}}.config())
			f := d.call("peer", "ask_by_request", "{}").fails("FAILED_PRECONDITION", "ERA_REFUSED")
			if !strings.Contains(f.Message, "was not repeated") || !strings.Contains(f.Message, "era: legacy") {
				t.Error(f.Message)
			}
			c := d.call("peer", "ask_by_request", "{}")
			prompt := w.WaitPrompt(form)
			takes(t, w.Accept(prompt.GetPromptId(), `{"name":"Ada"}`))
			if r := c.answer(); !strings.Contains(r.GetResultJson(), "Ada") {
				t.Errorf("%v", r)
			}
			if era := d.server("peer").GetEra(); era != mcphubv1.Era_ERA_LEGACY {
				t.Error(era)
			}
		})
	}
}
