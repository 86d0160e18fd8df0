package hub_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// Windows are told each server's place in the config, and again when it changes: from these events a window knows the
// order of a snapshot after every reload. No event comes for a server whose place and entry have not changed.
func TestServersTellTheirPlaces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, map[string]*fakeserver.Server{})
		v := w.everything()
		places, told := map[string]int{}, 0
		load := func(text string, want int) {
			t.Helper()
			var sources []hub.ConfigSource
			for i, names := range strings.Split(text, "|") {
				var entries []string
				for _, name := range strings.Fields(names) {
					entry := fmt.Sprintf(`%q:{"command":"x"}`, name)
					if strings.HasSuffix(name, "!") {
						entry = fmt.Sprintf(`%q:{"command":[]}`, strings.TrimSuffix(name, "!"))
					}
					entries = append(entries, entry)
				}
				json := `{"mcpServers":{` + strings.Join(entries, ",\n") + `}}`
				if names == "?" {
					json = "{"
				}
				sources = append(sources, hub.ConfigSource{Scope: "host", Path: fmt.Sprintf("%d.json", i), JSON: json})
			}
			if _, _, _, err := w.hub.LoadConfig(context.Background(), sources); err != nil {
				t.Fatal(err)
			}
			events := eventsOf[*event.ServerChanged](v)
			for _, e := range events[told:] {
				places[e.Server.Name] = e.Server.Place
				if e.Removed {
					delete(places, e.Server.Name)
				}
			}
			if n := len(events) - told; n != want {
				t.Errorf("%q: %d servers were told of, want %d", text, n, want)
			}
			told = len(events)
			now, _ := w.hub.Servers()
			for i, s := range now {
				if s.Place != i+1 || places[s.Name] != i+1 {
					t.Errorf("%q: %s is at %d, says %d, and was told at %d", text, s.Name, i+1, s.Place, places[s.Name])
				}
			}
			if len(places) != len(now) {
				t.Errorf("%q: the window knows %v", text, places)
			}
			snap := w.attach(hub.Hello{}).start.Snapshot.Servers
			if !slices.EqualFunc(now, snap, func(a, b event.ServerInfo) bool { return a.Name == b.Name && a.Place == b.Place }) {
				t.Errorf("%q: the snapshot has %v", text, snap)
			}
		}
		load("a b c|d", 4)
		load("a b c|d", 0)
		load("x a b c|d", 5) // one before all
		load("x a b c|d e", 1)
		load("x b c|d e", 5)   // a goes: what comes behind it moves up
		load("x b! c|d e", 1)  // a broken entry keeps its place
		load("x b c|?", 1)     // and so do the servers of a file that is half written
		load("y x b c|?", 6)   // they move with the others
		load("c b x y|e d", 6) // reversed
	})
}

// A config file that is named by a relative path is the same file as by its absolute path: its servers run in its
// folder, not in the home directory as those of a config without a file do.
func TestRelativeFileRunsBesideItself(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile("mcp.json", []byte(`{"mcpServers":{"s":{"command":"s"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorldWith(t, hub.Options{}, serversOf("s", hanging()))
		if _, _, _,
			err := w.hub.LoadConfig(t.Context(), []hub.ConfigSource{{Path: "mcp.json", Scope: "workspace",
			Trusted: true}}); err != nil {
			t.Fatal(err)
		}
		w.call(hub.CallRequest{Server: "s", Tool: "echo", Preapproved: true}).ok(t)
		if got := w.opened[0].Dir; got != dir {
			t.Errorf("it runs in %q, not in %q", got, dir)
		}
		if info := w.server("s"); info.ConfigFile != filepath.Join(dir, "mcp.json") {
			t.Errorf("%+v", info)
		}
	})
}
