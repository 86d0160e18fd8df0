package clients

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doctor"
	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/faketime"
	"github.com/mcphub-go/mcphub/internal/peers"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// foreign is a client that others wrote, with what is to be found of it besides what is as it should be.
type foreign struct {
	name   string
	client func(testing.TB) []string
	era    string // "" for a client that has only one
	way    string
	want   map[string]doctor.Level
}

// unseenCancels is what is found, with more, of a client that sends no notification at all.
func unseenCancels(more map[string]doctor.Level) map[string]doctor.Level {
	all := map[string]doctor.Level{}
	for _, check := range []string{"cancel.once", "cancel.id", "cancel.order", "cancel.reason", "cancel.late"} {
		all[check] = doctor.Unseen
	}
	maps.Copy(all, more)
	return all
}

// A client of the TypeScript SDK 2.4 gets no blame, those of others what is known of them.
func TestClientsOfOthers_real(t *testing.T) {
	t.Parallel()
	sound(t, []foreign{
		{"the TypeScript SDK 2", peers.TypeScript2.Client, "legacy", doctor.Stdio, nil},
		{"the TypeScript SDK 2, 2026-07-28", peers.TypeScript2.Client, "auto", doctor.Stdio, nil},
		// The program of the test does not end its session, as the SDK leaves that to it.
		{"the TypeScript SDK 2", peers.TypeScript2.Client, "legacy", doctor.HTTP,
			map[string]doctor.Level{"end.delete": doctor.Improve}},
		// It closes the stream of the call, and tells the server nothing; and it tells its own handlers nothing of a cancel.
		{"mcp-go", peers.MCPGo.Client, "legacy", doctor.HTTP, unseenCancels(map[string]doctor.Level{
			"cancel.sent": doctor.Mend, "question.withdrawn": doctor.Mend})},
	})
}

func TestClientsOfOthersThatAreWaitedFor_nightly(t *testing.T) {
	t.Parallel()
	// A handler's error is an answer for this SDK, also after the cancel.
	answers := map[string]doctor.Level{"question.withdrawn": doctor.Improve}
	sound(t, []foreign{
		{"the TypeScript SDK 1", peers.TypeScript1.Client, "", doctor.Stdio, nil},
		{"the TypeScript SDK 1", peers.TypeScript1.Client, "", doctor.HTTP, nil},
		{"the TypeScript SDK 2, 2026-07-28", peers.TypeScript2.Client, "auto", doctor.HTTP, nil},
		{"the Go SDK", peers.GoSDK.Client, "legacy", doctor.Stdio, answers},
		{"the Go SDK, 2026-07-28", peers.GoSDK.Client, "auto", doctor.Stdio, nil},
		{"the Go SDK", peers.GoSDK.Client, "legacy", doctor.HTTP, answers},
		{"the Go SDK, 2026-07-28", peers.GoSDK.Client, "auto", doctor.HTTP, nil},
		{"mcp-go", peers.MCPGo.Client, "legacy", doctor.Stdio, map[string]doctor.Level{"question.withdrawn": doctor.Mend}},
		{"mcp-go, 2026-07-28", peers.MCPGo.Client, "auto", doctor.Stdio, nil},
		{"mcp-go, 2026-07-28", peers.MCPGo.Client, "auto", doctor.HTTP, nil},
	})
}

// sound examines clients, which cancel, answer and end by themselves.
func sound(t *testing.T, all []foreign) {
	binary := doortest.Binary(t)
	for _, peer := range all {
		t.Run(peer.name+" over "+peer.way, func(t *testing.T) {
			t.Parallel()
			words := append(peer.client(t), "")
			if peer.era != "" {
				words = append(words, peer.era)
			}
			var said strings.Builder
			r, err := Examine(t.Context(), Options{
				Name: peer.name, Version: "1", Connect: faketime.Long, Out: &said,
				Server: func(socket string) []string { return []string{binary, "doctor", "--play", socket} },
				Client: func(w Ways) []string {
					if peer.way == doctor.HTTP {
						return append(slices.Clone(words), "http", w.URL, "x")
					}
					return append(append(slices.Clone(words), "stdio"), w.Server...)
				},
				Ready: func(Ways) {},
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, said.String())
			}
			got := levels(r.Findings)
			if !maps.Equal(got, peer.want) || r.Calls < 5 || len(r.Revisions) != 1 {
				t.Errorf("found %v, want %v; %d calls, revisions %v\n%s", got, peer.want, r.Calls, r.Revisions, said.String())
				for _, f := range r.Findings {
					t.Logf("%-9s %-20s %s", f.Level, f.Check, f.Seen)
				}
			}
		})
	}
}

// A client whose program ends and leaves the connection of its server open is found out, and nothing waits for it.
func TestClientThatLeavesItsServer_real(t *testing.T) {
	t.Parallel()
	binary := doortest.Binary(t)
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}`
	r, err := Examine(t.Context(), Options{
		Name: "sh", Version: "1", Connect: faketime.Long,
		Server: func(socket string) []string { return []string{binary, "doctor", "--play", socket} },
		Client: func(w Ways) []string { // what it leaves behind holds the pipe, for longer than the doctor waits
			return append([]string{"sh", "-c", `{ echo "$0"; sleep 8; } | "$@" >/dev/null 2>&1 & sleep 1`, hello}, w.Server...)
		},
		Ready: func(Ways) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := levels(r.Findings)["end.stdin"]; got != doctor.Mend {
		t.Errorf("the end: %q, %v", got, r.Findings)
	}
}
