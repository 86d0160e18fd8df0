//go:build unix

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/peers"
)

// step is what a client reports of one step of the scenario (internal/peers/scenario.mjs).
type step struct {
	Step      string   `json:"step"`
	Error     string   `json:"error"`
	Text      string   `json:"text"`
	Taken     string   `json:"taken"`
	Name      string   `json:"name"`
	Heard     int      `json:"heard"`
	Messages  int      `json:"messages"`
	Tools     []string `json:"tools"`
	Resources bool     `json:"resources"`
}

// behind is a server behind the gateway, which runs our tools on an SDK of others.
type behind struct {
	name      string
	command   func(testing.TB) (string, []string)
	era       string
	withdraws string // the reason with which it withdraws questions; "": it cannot
	reports   bool   // it sends progress
	reasons   bool   // its SDK passes the reason of a cancel to tools
}

var behindGateway = []behind{
	{"TypeScript 1", peers.TypeScript1.Stdio, "legacy", "too late", true, true},
	{"TypeScript 2 modern", peers.TypeScript2.Stdio, "modern", "", true, true},
	{"Go SDK legacy", peers.GoSDK.Stdio, "legacy", "context deadline exceeded", true, false},
	{"Go SDK modern", peers.GoSDK.Stdio, "modern", "", true, false},
}

// TestGatewayClients_long: clients on SDKs of others call tools, get progress, cancel with a reason, answer a question,
// and have one withdrawn, through mcphub mcp over stdio and over HTTP, with servers on SDKs of others behind it.
func TestGatewayClients_long(t *testing.T) {
	if err := errors.Join(goSDK(), mcpGo()); err != nil {
		t.Fatal(err)
	}
	const why, canceled = "seen enough", "context canceled"
	clients := []struct {
		name    string
		command []string
		modern  bool
		reason  string // with which it cancels
		hears   bool   // that a question was withdrawn
	}{
		{"TypeScript 1", append(peers.TypeScript1.Client(t), "p__"), false, why, true},
		{"TypeScript 2 legacy", append(peers.TypeScript2.Client(t), "p__", "legacy"), false, why, true},
		{"TypeScript 2 modern", append(peers.TypeScript2.Client(t), "p__", "auto"), true, why, false},
		{"Go SDK legacy", append(peers.GoSDK.Client(t), "p__", "legacy"), false, canceled, true},
		{"Go SDK modern", append(peers.GoSDK.Client(t), "p__", "auto"), true, canceled, false},
		{"mcp-go legacy", append(peers.MCPGo.Client(t), "p__", "legacy"), false, canceled, false},
		{"mcp-go modern", append(peers.MCPGo.Client(t), "p__", "auto"), true, canceled, false},
	}
	for _, client := range clients {
		for _, server := range behindGateway {
			for _, overHTTP := range []bool{false, true} {
				if client.modern && overHTTP && server.era == "legacy" {
					// Modern calls over HTTP have no session in common. What a legacy server asks within 30 s of a
					// cancelled call may belong to that call, so it goes to windows only.
					continue
				}
				ofGo, sameEra := strings.HasPrefix(server.name, "Go"), client.modern == (server.era == "modern")
				if ofGo && (overHTTP || server.era == "modern" && !sameEra) ||
					!strings.HasPrefix(client.name, "TypeScript") && (ofGo || !sameEra) {
					continue // each client meets each era and both transports; more pairs show nothing new
				}
				way := map[bool]string{false: "stdio", true: "HTTP"}[overHTTP]
				name := fmt.Sprintf("%s on %s to %s", client.name, way, server.name)
				if testing.Short() && !slices.Contains(fewPairs, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					p := newPlace(t)
					config, journal := p.behindGateway(server)
					command := slices.Clone(client.command)
					if overHTTP {
						address, authorization := p.gatewayHTTP(config)
						command = append(command, "http", address, authorization)
					} else {
						command = append(command, "stdio", p.hub, "mcp", config)
					}
					withdrawn := server.withdraws
					if client.reason == canceled { // its SDK does not pass the reason to handlers
						withdrawn = canceled
					}
					checkScenario(t, server, client.hears, withdrawn, p.plays(command))
					reason := client.reason
					switch {
					case client.modern && overHTTP:
						reason = "the client closed the stream" // which is how it cancels; it sends no reason
					case overHTTP && client.name == "mcp-go legacy":
						return // it closes the stream and sends no cancel: the tool runs on until the session ends
					}
					checkJournal(t, server, reason, peers.ReadJournal(t, journal))
				})
			}
		}
	}
}

// fewPairs are the pairs of the short form: each client once, both eras over both transports.
var fewPairs = []string{
	"TypeScript 1 on stdio to TypeScript 1",
	"TypeScript 2 legacy on HTTP to TypeScript 1",
	"TypeScript 2 modern on HTTP to TypeScript 2 modern",
	"Go SDK legacy on HTTP to TypeScript 1",
	"Go SDK modern on stdio to TypeScript 2 modern",
	"mcp-go legacy on stdio to TypeScript 1",
	"mcp-go modern on HTTP to TypeScript 2 modern",
}

// behindGateway writes a config with the server as p and the reference server as e.
func (p *place) behindGateway(b behind) (config, journal string) {
	command, args := b.command(p.t)
	journal = p.file("journal")
	e := quick(entry{Command: command, Args: args, Dir: p.dir, Era: b.era, Approvals: allowAll,
		Env: map[string]string{peers.JournalVariable: journal, "GORACE": "atexit_sleep_ms=0"}})
	config = p.file("mcp.json")
	if err := os.WriteFile(config, []byte(servers{"p": e, "e": p.everything()}.config()), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return config, journal
}

// gatewayEnvironment gives the hub of a test a state directory of its own.
func (p *place) gatewayEnvironment() []string {
	return append(os.Environ(), "MCPHUB_STATE_DIR="+p.file("state"))
}

// gatewayHTTP starts mcphub mcp over HTTP.
func (p *place) gatewayHTTP(config string) (address, authorization string) {
	p.t.Helper()
	cmd := exec.Command(p.hub, "mcp", config, "--http", "127.0.0.1:0")
	cmd.Dir, cmd.Env = p.dir, p.gatewayEnvironment()
	lines := doortest.Serve(p.t, cmd)
	address, err1 := lines.ReadString('\n')
	authorization, err2 := lines.ReadString('\n')
	if err1 != nil || err2 != nil {
		p.t.Fatal(err1, err2)
	}
	return strings.TrimSpace(address), strings.TrimSpace(strings.TrimPrefix(authorization, "Authorization:"))
}

// plays runs a client to its end.
func (p *place) plays(command []string) map[string]step {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, p.gatewayEnvironment(), p.t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if waited := cmd.Wait(); err != nil || waited != nil {
		p.t.Fatalf("the client: %v, %v\n%s", err, waited, text)
	}
	steps := map[string]step{}
	for line := range strings.Lines(string(text)) {
		var s step
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			p.t.Fatalf("the client writes %q: %v", line, err)
		}
		steps[s.Step] = s
	}
	return steps
}

// checkScenario checks what the client reports.
func checkScenario(t *testing.T, b behind, hears bool, withdrawn string, steps map[string]step) {
	t.Helper()
	check := func(name string, sound func(s step) bool) {
		t.Helper()
		if s, came := steps[name]; !came || !sound(s) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	check("list", func(s step) bool { return slices.Contains(s.Tools, "p__slow") && slices.Contains(s.Tools, "e__echo") })
	check("progress", func(s step) bool { return s.Text == "done" && (s.Heard > 0 || !b.reports) })
	check("cancel", func(s step) bool { return strings.Contains(s.Error, "seen enough") })
	check("after", func(s step) bool { return s.Text == "done" })
	check("ask", func(s step) bool { return strings.Contains(s.Text, "Ada") })
	check("sample", func(s step) bool { return strings.Contains(s.Text, "Hello from the model") })
	if b.withdraws != "" {
		check("withdraw", func(s step) bool {
			return s.Text == "withdrawn" && (!hears || strings.Contains(s.Taken, withdrawn))
		})
	}
	check("prompt", func(s step) bool { return s.Error == "" && s.Messages > 0 && strings.HasPrefix(s.Name, "e__") })
	check("resource", func(s step) bool { return s.Error == "" && s.Resources })
	check("unknown", func(s step) bool { return strings.Contains(s.Error, "no_such_tool") })
	check("end", func(step) bool { return true })
}

// checkJournal checks what the server has recorded: one cancel, with its reason if the SDK passes that on.
func checkJournal(t *testing.T, b behind, reason string, events []peers.Event) {
	t.Helper()
	cancelled := slices.DeleteFunc(slices.Clone(events), func(e peers.Event) bool {
		return e.Event != peers.EventCancelled
	})
	if len(cancelled) != 1 || cancelled[0].Tool != "slow" || b.reasons && cancelled[0].Reason != reason {
		t.Errorf("cancels: %+v, of\n%+v", cancelled, events)
	}
}
