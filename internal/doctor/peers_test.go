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
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/peers"
)

func command(path string, args []string) Way {
	return Way{Transport: Stdio, Command: transport.Command{Path: path, Args: args, Env: os.Environ()}}
}

// levels is the worst level of each check of a report in one era, "" for what is of no era.
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

// measured is the level of what goes by the clock: how fast a server is on a busy machine is not the test's matter.
const measured Level = "good or improve"

// holds fails the test when a check has another level than what is known of the server.
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

// What takes longer than it should is to be improved, and not what takes just as long.
func TestWhatIsSlow(t *testing.T) {
	for took, want := range map[time.Duration]Level{0: Good, slowPing: Good, slowPing + 1: Improve, time.Hour: Improve} {
		if got := within(slowPing, took); got != want {
			t.Errorf("%v: %q, want %q", took, got, want)
		}
	}
}

func examined(t *testing.T, w Way, tool, arguments string, patience time.Duration) *Report {
	t.Helper()
	return watched(t, w, tool, arguments, Options{Patience: patience, Before: 300 * time.Millisecond})
}

// watched examines with the times of o.
func watched(t *testing.T, w Way, tool, arguments string, o Options) *Report {
	t.Helper()
	o.Tool, o.Arguments = tool, json.RawMessage(arguments)
	r, err := Examine(context.Background(), Target{Name: "peer", Ways: []Way{w}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is known of these servers was seen on the wire by other means (raw JSON-RPC) before there was a doctor.
func TestServersOfOthers(t *testing.T) {
	t.Parallel()
	sound := map[string]Level{"start.stdout": Good, "end.stdin": Good, "end.children": Good}
	for _, peer := range []struct {
		name            string
		serve           func(testing.TB) (string, []string)
		tool, arguments string
		legacy, modern  map[string]Level
		// watch is short where nothing comes after a cancel: it would be waited for in full
		watch time.Duration
	}{
		{"server-everything goes on after a cancel", peers.Everything,
			"trigger-long-running-operation", `{"duration":30,"steps":300}`,
			map[string]Level{"start.time": measured, "ping": measured, "era.revisions": Good, "era.unknown": Good,
				"cancel.stop": Mend, "cancel.next": Good, "cancel.unknown": Good, "capability.tools": Good},
			map[string]Level{"era.modern": Note}, 0},
		{"the Go SDK stops and answers", peers.GoSDKStdio, "slow", `{"ms":30000,"steps":300}`,
			map[string]Level{"cancel.stop": Good, "cancel.answer": Note, "cancel.delivery": Good, "cancel.next": Good},
			map[string]Level{"era.modern": Good, "cancel.stop": Good, "cancel.next": Good}, 0},
		{"the TypeScript SDK 1 stops", peers.TypeScript1Stdio, "slow", `{"ms":30000,"steps":300}`,
			map[string]Level{"cancel.stop": Good, "cancel.next": Good}, map[string]Level{"era.modern": Note},
			500 * time.Millisecond},
		{"the TypeScript SDK 2 stops in both eras", peers.TypeScript2Stdio, "slow", `{"ms":30000,"steps":300}`,
			map[string]Level{"cancel.stop": Good, "cancel.next": Good},
			map[string]Level{"era.modern": Good, "cancel.stop": Good, "cancel.next": Good}, 500 * time.Millisecond},
	} {
		t.Run(peer.name, func(t *testing.T) {
			t.Parallel()
			path, args := peer.serve(t)
			// All of them report progress, and are cancelled with the first, however late a busy machine lets it come.
			r := watched(t, command(path, args), peer.tool, peer.arguments,
				Options{Patience: time.Minute, Before: time.Minute, Watch: peer.watch})
			holds(t, r, "", sound)
			holds(t, r, mcp.EraLegacy, peer.legacy)
			holds(t, r, mcp.EraModern, peer.modern)
			if want := Calls(Target{Ways: []Way{command(path, args)}}, Options{Tool: peer.tool}); r.Calls > want || r.Calls < 2 {
				t.Errorf("the tool was called %d times; %d were announced", r.Calls, want)
			}
		})
	}
}

// Over HTTP a call's stream is closed with its cancel, so that nothing is claimed about its work.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	server := peers.TypeScript2(t)
	r := examined(t, Way{Transport: HTTP, HTTP: transport.HTTPOptions{URL: server.URL}}, "slow",
		`{"ms":30000,"steps":300}`, time.Minute)
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
