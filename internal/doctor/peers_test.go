package doctor

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/process"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/peers"
)

func command(path string, args []string) Way {
	return Way{Transport: Stdio, Command: process.Command{Path: path, Args: args, Env: os.Environ()}}
}

// levels returns the worst level of each check of a report in one era, "" for findings without an era.
func levels(r *Report, era string) map[string]Level {
	found := map[string]Level{}
	for _, f := range r.Findings {
		if f.Era != era {
			continue
		}
		if was, ok := found[f.Check]; !ok || f.Level.weight() < was.weight() {
			found[f.Check] = f.Level
		}
	}
	return found
}

// measured stands for the level of a check that measures time. Both levels pass, because how fast a server is on a busy
// machine is not tested here.
const measured Level = "good or improve"

// holds fails the test when a check does not have the level that is known of the server.
func holds(t *testing.T, r *Report, era string, want map[string]Level) {
	t.Helper()
	found := levels(r, era)
	for _, check := range slices.Sorted(maps.Keys(want)) {
		if in := found[check]; want[check] == measured && (in == Good || in == Improve) {
			continue
		}
		if found[check] != want[check] {
			t.Errorf("%s (%s): %q, want %q", check, era, found[check], want[check])
		}
	}
	if t.Failed() {
		for _, f := range r.Findings {
			t.Logf("%-8s %-24s %-7s %s", f.Level, f.Check, f.Era, f.Seen)
		}
	}
}

// An operation is slow if it takes longer than its limit, not if it takes exactly as long.
func TestWhatIsSlow(t *testing.T) {
	for took, want := range map[time.Duration]Level{0: Good, slowPing: Good, slowPing + 1: Improve, time.Hour: Improve} {
		if got := within(slowPing, took); got != want {
			t.Errorf("%v: %q, want %q", took, got, want)
		}
	}
}

func examined(t *testing.T, w Way, tool, arguments string, patience time.Duration) *Report {
	t.Helper()
	return watched(t, w, tool, arguments, Options{Patience: patience, Connect: patience, Before: 300 * time.Millisecond})
}

// watched examines a server with the time limits of o.
func watched(t *testing.T, w Way, tool, arguments string, o Options) *Report {
	t.Helper()
	o.Tool, o.Arguments = tool, json.RawMessage(arguments)
	r, err := Examine(context.Background(), Target{Name: "peer", Way: w}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// foreign is what is to be found of a server that others wrote. It behaves as the expected levels say: that was
// observed on the wire with raw JSON-RPC before the doctor existed.
type foreign struct {
	name            string
	serve           func(testing.TB) (string, []string)
	tool, arguments string
	legacy, modern  map[string]Level
	// watch is short for a server that sends nothing after a cancel, because the doctor waits for the whole of it.
	watch time.Duration
}

func TestServersOfOthers(t *testing.T) {
	t.Parallel()
	sound(t, []foreign{
		{"the Go SDK stops and answers", peers.GoSDK.Stdio, "slow", `{"ms":30000,"steps":300}`,
			map[string]Level{"cancel.stop": Good, "cancel.answer": Note, "cancel.delivery": Good, "cancel.next": Good},
			map[string]Level{"era.modern": Good, "cancel.stop": Good, "cancel.next": Good}, 0},
	})
}

func TestServersOfOthersThatAreWaitedFor_nightly(t *testing.T) {
	t.Parallel()
	sound(t, []foreign{
		{"server-everything goes on after a cancel", peers.Everything,
			"trigger-long-running-operation", `{"duration":30,"steps":300}`,
			map[string]Level{"start.time": measured, "ping": measured, "era.revisions": Good, "era.unknown": Good,
				"cancel.stop": Mend, "cancel.next": Good, "cancel.unknown": Good, "capability.tools": Good},
			map[string]Level{"era.modern": Note}, 0},
		{"the TypeScript SDK 1 stops", peers.TypeScript1.Stdio, "slow", `{"ms":30000,"steps":300}`,
			map[string]Level{"cancel.stop": Good, "cancel.next": Good}, map[string]Level{"era.modern": Note},
			500 * time.Millisecond},
		{"the TypeScript SDK 2 stops in both eras", peers.TypeScript2.Stdio, "slow", `{"ms":30000,"steps":300}`,
			map[string]Level{"cancel.stop": Good, "cancel.next": Good},
			map[string]Level{"era.modern": Good, "cancel.stop": Good, "cancel.next": Good}, 500 * time.Millisecond},
	})
}

// Wrong arguments are no fault of the server's: whatever it says of them, nothing is to be mended about cancels.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	for _, peer := range []foreign{
		{name: "the Go SDK", serve: peers.GoSDK.Stdio, tool: "slow", arguments: `{"ms":"soon"}`},
		{name: "mcp-go", serve: peers.MCPGo.Stdio, tool: "slow", arguments: `{"ms":"soon"}`},
		{name: "the TypeScript SDK 1", serve: peers.TypeScript1.Stdio, tool: "slow", arguments: `{"ms":"soon"}`},
		{name: "the TypeScript SDK 2", serve: peers.TypeScript2.Stdio, tool: "slow", arguments: `{"ms":"soon"}`},
		{name: "server-everything", serve: peers.Everything, tool: "trigger-long-running-operation",
			arguments: `{"duration":"long"}`},
	} {
		t.Run(peer.name, func(t *testing.T) {
			t.Parallel()
			path, args := peer.serve(t)
			r := watched(t, command(path, args), peer.tool, peer.arguments,
				Options{Patience: faketime.Long, Connect: faketime.Long, Before: faketime.Long, Watch: time.Second})
			for _, f := range r.Findings {
				if strings.HasPrefix(f.Check, "cancel.") && f.Level == Mend {
					t.Errorf("%s (%s): %s", f.Check, f.Era, f.Seen)
				}
			}
			if seen, _ := what(r, "cancel.stop"); peer.name != "mcp-go" && !strings.Contains(seen, "the tool failed") {
				t.Errorf("of the arguments it says %q", seen)
			}
		})
	}
}

// sound examines the servers, whose pipes and ends are sound.
func sound(t *testing.T, servers []foreign) {
	for _, peer := range servers {
		t.Run(peer.name, func(t *testing.T) {
			t.Parallel()
			path, args := peer.serve(t)
			// All of these servers report progress, and the doctor cancels with the first progress. On a busy machine
			// that may be late.
			r := watched(t, command(path, args), peer.tool, peer.arguments,
				Options{Patience: faketime.Long, Connect: faketime.Long, Before: faketime.Long, Watch: peer.watch})
			holds(t, r, "", map[string]Level{"start.stdout": Good, "end.stdin": Good, "end.children": Good})
			holds(t, r, mcp.EraLegacy, peer.legacy)
			holds(t, r, mcp.EraModern, peer.modern)
			if want := Calls(Target{Way: command(path, args)}, Options{Tool: peer.tool}); r.Calls > want || r.Calls < 2 {
				t.Errorf("the tool was called %d times; %d were announced", r.Calls, want)
			}
		})
	}
}

// Over HTTP the cancel also closes the stream of the call, so the doctor cannot tell whether the server stopped its
// work.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	server := peers.TypeScript2.HTTP(t)
	r := examined(t, Way{Transport: HTTP, HTTP: transport.HTTPOptions{URL: server.URL}}, "slow",
		`{"ms":30000,"steps":300}`, faketime.Long)
	for _, era := range []string{mcp.EraLegacy, mcp.EraModern} {
		holds(t, r, era, map[string]Level{"cancel.delivery": Good, "cancel.stop": Note, "cancel.next": Good})
	}
	if levels(r, "")["end.stdin"] != "" {
		t.Error("a server behind a URL was ended")
	}
	if len(r.Revisions) < 2 || !strings.HasPrefix(r.Says, "peer-typescript2 ") {
		t.Errorf("revisions %v, it says %q", r.Revisions, r.Says)
	}
}
