package list_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config/watch"
	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// TestServersWatch: after the list each change is printed as it comes, a new entry in the file too, until an interrupt.
func TestServersWatch(t *testing.T) {
	p := clitest.InBubbles(t)
	file := p.Config("mcp.json", `{"mcpServers": {"one": {"command": "a"}}}`)
	p.Alone(func(t *testing.T) {
		s := p.Start("servers", "--watch", "--config", file)
		s.Said.Await(t, "one ")
		if err := os.WriteFile(file, []byte(`{"mcpServers": {"one": {"command": "a"}, "two": {"command": "b"}}}`),
			0o600); err != nil {
			t.Fatal(err)
		}
		p.Files <- watch.Change{Files: []string{file}}
		s.Said.Await(t, "two: stopped")
		s.Said.Await(t, "config: "+file+" changed")
		s.Interrupt()
		if r := s.Read(); r.Status != 0 {
			t.Errorf("status %d\n%s", r.Status, r.Stderr)
		}
	})
}

// TestServersWatchEndsWithTheHub: when the hub ends, the command ends with an error that says so.
func TestServersWatchEndsWithTheHub(t *testing.T) {
	p := clitest.InBubbles(t)
	file := p.Config("mcp.json", `{"mcpServers": {"one": {"command": "a"}}}`)
	p.Alone(func(t *testing.T) {
		s := p.Start("servers", "--watch", "--config", file)
		s.Said.Await(t, "one ")
		if err := p.Hub.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if r := s.Read(); r.Status != 6 || !strings.Contains(r.Stderr, "the window ended") {
			t.Errorf("status %d\n%s", r.Status, r.Stderr)
		}
	})
}
