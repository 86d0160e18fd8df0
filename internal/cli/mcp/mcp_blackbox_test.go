package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/jsontext"
	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/console"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
	"github.com/mcphub-go/mcphub/internal/cli/mcp"
)

// speaker is mcphub mcp with a client that writes its lines by hand.
type speaker struct{ *clitest.Speaker }

func speakWith(p *clitest.Program, args ...string) *speaker {
	p.T.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		p.T.Fatal(err)
	}
	defer read.Close()
	return greet(&clitest.Speaker{Started: p.StartWith(read, append([]string{"mcp"}, args...)...), In: write})
}

// speakInside does something with the command as its client, which then leaves, and returns how the command ended.
func speakInside(c *clitest.Commands, do func(s *speaker), args ...string) clitest.Ended {
	c.T.Helper()
	return c.Speak(func(s *clitest.Speaker) { do(greet(s)) }, append([]string{"mcp"}, args...)...)
}

func greet(of *clitest.Speaker) *speaker {
	of.T.Helper()
	s := &speaker{of}
	s.Say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"by hand","version":"1"}}}`)
	s.Say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	s.answer(`"i"`)
	return s
}

// answer waits for the response with that id, and returns the whole line.
func (s *speaker) answer(id string) string {
	s.T.Helper()
	return s.Stdout.Line(s.T, "the answer to "+id, func(line string) bool {
		return strings.HasSuffix(line, "\n") && string(jsontext.Get([]byte(line), "id")) == id &&
			jsontext.Get([]byte(line), "method") == nil
	})
}

// progresses waits until a call is at its server.
func (s *speaker) progresses() {
	s.T.Helper()
	s.Stdout.Await(s.T, `"method":"notifications/progress"`)
}

// TestMCPCancelReachesServer: the reason of a client's cancel reaches the server.
func TestMCPCancelReachesServer(t *testing.T) {
	p := clitest.InBubbles(t)
	file, record := p.RecordedDemo("allow")
	r := speakInside(p, func(s *speaker) {
		s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__sleep","arguments":{"seconds":10},` +
			`"_meta":{"progressToken":"t"}}}`)
		s.progresses()
		s.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the user has seen enough"}}`)
		s.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"demo__echo","arguments":{"text":"after"}}}`)
		if line := s.answer("2"); !strings.Contains(line, `"text":"after"`) {
			t.Errorf("after the cancel: %s", line)
		}
	}, file)
	if r.Status != exit.OK {
		t.Errorf("status %d\n%s", r.Status, r.Stderr)
	}
	clitest.HeardCancel(t, record, "the user has seen enough")
}

// TestMCPSaysWhoMustAgree: when nobody can approve a call, it fails with a tool error that a model can read and that
// names what helps.
func TestMCPSaysWhoMustAgree(t *testing.T) {
	p := clitest.InBubbles(t)
	file, _ := p.RecordedDemo("ask")
	call := func(args ...string) (line string) {
		speakInside(p, func(s *speaker) {
			s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo","arguments":{"text":"hi"}}}`)
			line = s.answer("1")
		}, append(args, file)...)
		return line
	}
	if line := call(); !strings.Contains(line, `"isError":true`) || !strings.Contains(line, "mcphub mcp --window") ||
		!strings.Contains(line, "--approval client") {
		t.Errorf("the call was answered %s", line)
	}
	if line := call("--approval", "client"); !strings.Contains(line, `"text":"hi"`) {
		t.Errorf("with --approval client: %s", line)
	}
}

// TestMCPAlwaysStarts: a file that cannot be read, and a server that would be the gateway itself, are reported, and the
// gateway serves what there is.
func TestMCPAlwaysStarts(t *testing.T) {
	p := clitest.InBubbles(t)
	self, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"hub": map[string]any{"command": p.Binary,
		"args": []string{"mcp"}}}})
	r := speakInside(p, func(s *speaker) {
		s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if line := s.answer("1"); !strings.Contains(line, `"tools":[]`) {
			t.Errorf("the list is %s", line)
		}
	}, p.Config("broken.json", `{"mcpServers":{"a":{"command":"no-such-program-anywhere"},"b":7`),
		p.Config("self.json", string(self)), filepath.Join(p.Folder, "missing.json"))
	if r.Status != exit.OK || p.Opened != 0 {
		t.Errorf("status %d, %d servers were started", r.Status, p.Opened)
	}
	for _, want := range []string{"broken.json", "missing.json", `server "hub": is left out`} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("it does not say %q but\n%s", want, r.Stderr)
		}
	}
}

// TestMCPTellsOfServersThatCannotBeKnown: which servers' tools are missing from the list, and why, is said on stderr,
// and in the error of a call of one of them.
func TestMCPTellsOfServersThatCannotBeKnown(t *testing.T) {
	p := clitest.InBubbles(t)
	text, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"demo": map[string]any{"command": p.Binary,
		"args": []string{"demo-server"}}, "nope": map[string]any{"command": "no-such-program-anywhere"}}})
	r := speakInside(p, func(s *speaker) {
		s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if line := s.answer("1"); !strings.Contains(line, `"tools":[]`) {
			t.Errorf("the list is %s", line)
		}
		s.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"demo__echo"}}`)
		if line := s.answer("2"); !strings.Contains(line, "your consent to start it") {
			t.Errorf("the call was answered %s", line)
		}
	}, p.Config("folder.json", string(text)), "--scope", "workspace")
	for _, want := range []string{"no tools of server demo", "--window serves a page", "no tools of server nope"} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("it does not say %q but\n%s", want, r.Stderr)
		}
	}
}

// TestMCPLeavesNothingElseOut_real: a folder's file that names a server of the user's own as the gateway itself takes
// nothing from the user, and a server of that name which is another program is no gateway.
func TestMCPLeavesNothingElseOut_real(t *testing.T) {
	t.Parallel()
	p := clitest.Build(t)
	demo, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"db": map[string]any{"command": p.Binary,
		"args": []string{"demo-server"}}}})
	folder := p.AtHome(map[string]string{"home/.cursor/mcp.json": string(demo),
		"project/.cursor/mcp.json": `{"mcpServers":{"db":{"command":"mcphub","args":["mcp"]}}}`})
	s := speakWith(p, "--folder", folder)
	s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if line := s.answer("1"); !strings.Contains(line, `"db__echo"`) {
		t.Errorf("the list is %s", line)
	}
	want := filepath.FromSlash("project/.cursor/mcp.json") + ":1:16: warning: server \"db\""
	if s.Leave(); !strings.Contains(s.Stderr.String(), want) {
		t.Errorf("said\n%s", s.Stderr.String())
	}
}

// TestMCPPrintConfig: what is printed for a client is what that client reads, and starts this program.
func TestMCPPrintConfig(t *testing.T) {
	p := clitest.Inside(t)
	for _, client := range mcp.ClientNames() {
		e := p.Run("mcp", "--print-config", client, "--window", "a.json")
		if e.Status != exit.OK || !strings.Contains(e.Stdout, "a.json") || !strings.Contains(e.Stdout, "--window") {
			t.Errorf("%s: status %d\n%s%s", client, e.Status, e.Stdout, e.Stderr)
		}
		// What calls need to work there is said, and only where it is missing.
		const need = "--approval client"
		if strings.Contains(e.Stderr, need) ||
			!strings.Contains(p.Run("mcp", "--print-config", client, "a.json").Stderr, need) {
			t.Errorf("%s: of approvals it says\n%s", client, e.Stderr)
		}
		if client != "codex" && !json.Valid([]byte(e.Stdout)) {
			t.Errorf("%s: no JSON\n%s", client, e.Stdout)
		}
	}
	if e := p.Run("mcp", "--print-config", "emacs"); e.Status != exit.Usage || !strings.Contains(e.Stderr, "claude-code") {
		t.Errorf("an unknown client: status %d\n%s", e.Status, e.Stderr)
	}
}

// TestMCPPrintConfigOverHTTP: what is printed for a client is, in its dialect, an entry with the gateway's address, and
// never holds the token.
func TestMCPPrintConfigOverHTTP(t *testing.T) {
	p := clitest.Inside(t)
	token := p.Config("token", "0123456789abcdef")
	print := func(client string, args ...string) clitest.Ended {
		return p.Run(append([]string{"mcp", "--print-config", client, "a.json"}, args...)...)
	}
	for _, client := range mcp.ClientNames() {
		e := print(client, "--http", "127.0.0.1:7777", "--token-file", token)
		if client == "claude-desktop" {
			if e.Status != exit.Usage || !strings.Contains(e.Stderr, "commands only") {
				t.Errorf("%s: status %d\n%s%s", client, e.Status, e.Stdout, e.Stderr)
			}
			continue
		}
		servers, problems := config.Load([]config.Source{{Path: mcp.ClientFile(client), JSON: []byte(e.Stdout), Scope: "user"}})
		if e.Status != exit.OK || len(servers) != 1 || len(problems) != 0 || strings.Contains(e.Stdout, "0123456789") {
			t.Errorf("%s: status %d, problems %v\n%s%s", client, e.Status, problems, e.Stdout, e.Stderr)
			continue
		}
		s := servers[0]
		bears := s.BearerEnv != "" || strings.HasPrefix(s.Header["Authorization"], "Bearer ")
		if s.URL != "http://127.0.0.1:7777/mcp" || !bears ||
			!strings.Contains(e.Stderr, "--http 127.0.0.1:7777 --token-file "+console.ShellLine([]string{token})) {
			t.Errorf("%s: %s, %v\n%s", client, s.URL, s.Header, e.Stderr)
		}
	}
	for want, args := range map[string][]string{
		"--token-file": {"--http", "127.0.0.1:7777"},
		"name a port":  {"--http", "127.0.0.1:0", "--token-file", token},
		"HOST:PORT":    {"--http", "7777", "--token-file", token},
		"this machine": {"--http", "0.0.0.0:7777", "--token-file", token},
		"no-token":     {"--http", "127.0.0.1:7777", "--token-file", token + "/no-token"},
	} {
		if e := print("cursor", args...); e.Status != exit.Usage || !strings.Contains(e.Stderr, want) {
			t.Errorf("%q: status %d\n%s%s", args, e.Status, e.Stdout, e.Stderr)
		}
	}
}

// TestMCPSearch: a profile has a part of the tools, which are found and called through the tools of search mode,
// and a long result comes in pieces.
func TestMCPSearch(t *testing.T) {
	p := clitest.InBubbles(t)
	text, err := json.Marshal(map[string]any{
		"mcpServers": map[string]any{"demo": map[string]any{"command": p.Binary, "args": []string{"demo-server"},
			"approvals": map[string]string{"*": "allow"}}},
		"mcphub": map[string]any{"profiles": map[string]any{"some": map[string]any{
			"tools": map[string]any{"demo": []string{"echo", "ehco"}}, "toolsMode": "search", "maxTokens": 200}}}})
	if err != nil {
		t.Fatal(err)
	}
	file, long := p.Config("mcp.json", string(text)), strings.Repeat("0123456789", 200)
	r := speakInside(p, func(s *speaker) {
		s.Say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if line := s.answer("1"); !strings.Contains(line, `"search_tools"`) || !strings.Contains(line, `"read_result"`) ||
			strings.Contains(line, "demo__echo") {
			t.Errorf("listed: %s", line)
		}
		s.Say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search_tools",` +
			`"arguments":{"query":"text back sleep"}}}`)
		if line := s.answer("2"); !strings.Contains(line, "demo__echo") || strings.Contains(line, "demo__sleep") {
			t.Errorf("found: %s", line)
		}
		s.Say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"call_tool","arguments":{"name":"demo__echo",` +
			`"arguments":{"text":"` + long + `"}}}}`)
		line := s.answer("3")
		_, id, cut := strings.Cut(line, "with the id ")
		if !cut || len(line) > 800 {
			s.T.Fatalf("the long result: %s", line)
		}
		s.Say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_result","arguments":{"id":"` + id[:26] +
			`","offset":1500}}}`)
		if line := s.answer("4"); !strings.Contains(line, long[1500:1700]) {
			t.Errorf("read on: %s", line)
		}
	}, file, "--profile", "some")
	if r.Status != exit.OK || !strings.Contains(r.Stderr, `server "demo" has no tool "ehco"`) {
		t.Errorf("status %d\n%s", r.Status, r.Stderr)
	}
	checked := p.Run("config", "check", "--start", file)
	if checked.Status != exit.OK || !strings.Contains(checked.Stdout, `server "demo" has no tool "ehco"`) ||
		strings.Contains(checked.Stdout, `"echo"`) {
		t.Errorf("config check --start: status %d\n%s%s", checked.Status, checked.Stdout, checked.Stderr)
	}
	unknown := p.Run("mcp", file, "--profile", "sme")
	if unknown.Status == exit.OK || !strings.Contains(unknown.Stderr, `did you mean "some"`) {
		t.Errorf("an unknown profile: status %d\n%s", unknown.Status, unknown.Stderr)
	}
}
