package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config/watch"
)

// TestServersWatch: after the list each change is printed as it comes, a new entry in the file too, until an interrupt.
func TestServersWatch(t *testing.T) {
	p := inBubbles(t)
	file := p.config("mcp.json", `{"mcpServers": {"one": {"command": "a"}}}`)
	p.alone(func(t *testing.T) {
		s := p.start("servers", "--watch", "--config", file)
		s.said.await(t, "one ")
		if err := os.WriteFile(file, []byte(`{"mcpServers": {"one": {"command": "a"}, "two": {"command": "b"}}}`),
			0o600); err != nil {
			t.Fatal(err)
		}
		p.files <- watch.Change{Files: []string{file}}
		s.said.await(t, "two: stopped")
		s.said.await(t, "config: "+file+" changed")
		s.interrupt()
		if r := s.read(); r.status != 0 {
			t.Errorf("status %d\n%s", r.status, r.stderr)
		}
	})
}

// TestServersWatchEndsWithTheHub: when the hub ends, the command ends with an error that says so.
func TestServersWatchEndsWithTheHub(t *testing.T) {
	p := inBubbles(t)
	file := p.config("mcp.json", `{"mcpServers": {"one": {"command": "a"}}}`)
	p.alone(func(t *testing.T) {
		s := p.start("servers", "--watch", "--config", file)
		s.said.await(t, "one ")
		if err := p.hub.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if r := s.read(); r.status != 6 || !strings.Contains(r.stderr, "the window ended") {
			t.Errorf("status %d\n%s", r.status, r.stderr)
		}
	})
}
