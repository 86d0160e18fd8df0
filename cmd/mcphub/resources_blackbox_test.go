package main

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// libraryServer has resources and prompt templates. A read of wait:forever is never answered.
func libraryServer() *fakeserver.Server {
	s := fakeserver.New(fakeserver.WithCapabilities(`{"resources":{},"prompts":{}}`))
	s.Handle("resources/list", func(c *fakeserver.CallContext) {
		c.Result(
			`{"resources":[{"uri":"file:///a","name":"a","title":"First","description":"Of all.\nMore.","mimeType":"text/plain"},{"uri":"wait:forever","name":"w"}]}`)
	})
	s.Handle("resources/templates/list", func(c *fakeserver.CallContext) {
		c.Result(`{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"any"}]}`)
	})
	s.Handle("resources/read", func(c *fakeserver.CallContext) {
		switch string(c.Param("uri")) {
		case `"file:///a"`:
			c.Result(`{"contents":[{"uri":"file:///a","text":"the text"},{"uri":"file:///a","blob":"AA=="}]}`)
		case `"wait:forever"`:
			_ = c.Hang()
		default:
			c.Error(-32002, "no such thing")
		}
	})
	s.Handle("prompts/list", func(c *fakeserver.CallContext) {
		c.Result(
			`{"prompts":[{"name":"greet","description":"Greets.","arguments":[{"name":"who","required":true},{"name":"how"}]}]}`)
	})
	s.Handle("prompts/get", func(c *fakeserver.CallContext) {
		var arguments map[string]string
		if err := json.Unmarshal(c.Param("arguments"), &arguments); err != nil {
			c.Error(-32602, err.Error())
			return
		}
		c.Result(`{"messages":[{"role":"user","content":{"type":"text","text":"Greet ` + arguments["who"] + `!"}}]}`)
	})
	return s
}

func TestResourcesTable(t *testing.T) {
	p := inBubbles(t)
	p.fake = libraryServer
	r := p.run("resources", "--stdio", "fake")
	want := `URI             NAME  TYPE        ABOUT
file:///a       a     text/plain  First: Of all.
wait:forever    w     -           -
file:///{path}  any   -           -
`
	if r.status != 0 || r.stdout != want {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	r = p.run("resources", "--json", "--stdio", "fake")
	lines := strings.Split(strings.TrimSuffix(r.stdout, "\n"), "\n")
	var resources mcphubv1.ListResourcesResponse
	var templates mcphubv1.ListResourceTemplatesResponse
	if len(lines) != 2 || protojson.Unmarshal([]byte(lines[0]), &resources) != nil ||
		protojson.Unmarshal([]byte(lines[1]), &templates) != nil ||
		len(resources.GetResources()) != 2 || len(templates.GetResourceTemplates()) != 1 {
		t.Errorf("--json: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	file := p.config("mcp.json", `{"mcpServers":{"lib":{"command":"fake"},"other":{"command":"no-such-server-anywhere"}}}`)
	if r := p.run("resources", "lib", "--config", file); r.status != 0 || r.stdout != want {
		t.Errorf("of a config: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	if r := p.run("resources", "other", "--config", file); r.status != 6 ||
		!strings.Contains(r.stderr, "mcphub resources: ") {
		t.Errorf("of a server in trouble: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

func TestPromptsTable(t *testing.T) {
	p := inBubbles(t)
	p.fake = libraryServer
	r := p.run("prompts", "--stdio", "fake")
	if want := "PROMPT  ARGUMENTS  ABOUT\ngreet   who [how]  Greets.\n"; r.status != 0 || r.stdout != want {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	r = p.run("prompts", "--json", "--stdio", "fake")
	var list mcphubv1.ListMcpPromptsResponse
	if err := protojson.Unmarshal([]byte(r.stdout), &list); r.status != 0 || err != nil || len(list.GetPrompts()) != 1 {
		t.Errorf("--json: status %d, %v\n%s", r.status, err, r.stdout)
	}
}

// lastMessage reads the last line of read --json or prompt --json into m.
func lastMessage(t *testing.T, out, name string, m proto.Message) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	var last map[string]json.RawMessage
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || len(last) != 1 {
		t.Fatalf("the last line is %q, %v", lines[len(lines)-1], err)
	}
	if err := protojson.Unmarshal(last[name], m); err != nil {
		t.Fatalf("%v: %s", err, lines[len(lines)-1])
	}
}

func TestRead(t *testing.T) {
	p := inBubbles(t)
	p.fake = libraryServer
	r := p.run("read", "--stdio", "fake", "--uri", "file:///a")
	if r.status != 0 || r.stdout != "the text\n" || !strings.Contains(r.stderr, "resource, file:///a, 1 bytes") ||
		!strings.Contains(r.stderr, "resources/read file:///a on stdio") {
		t.Errorf("status %d, stdout %q\n%s", r.status, r.stdout, r.stderr)
	}
	r = p.run("read", "--json", "--stdio", "fake", "--uri", "file:///a", "--request-id", "mine")
	var response mcphubv1.ReadResourceResponse
	lastMessage(t, r.stdout, "readResourceResponse", &response)
	if r.status != 0 || response.GetRequestId() != "mine" || !strings.Contains(response.GetResultJson(), "the text") {
		t.Errorf("--json: status %d, %v", r.status, &response)
	}
	if r := p.run("read", "--stdio", "fake", "--uri", "file:///none"); r.status != 1 ||
		!strings.Contains(r.stderr, "mcphub read: the server answered error -32002: no such thing") {
		t.Errorf("an error of the server: status %d\n%s", r.status, r.stderr)
	}
}

// TestReadCancel: a read is cancelled as a call is, and the server is sent the reason.
func TestReadCancel(t *testing.T) {
	p := inBubbles(t)
	p.fake = libraryServer
	r := p.run("read", "--json", "--stdio", "fake", "--uri", "wait:forever", "--request-id", "mine", "--cancel-after", "2s",
		"--reason", "enough")
	c := readConversation(t, r.stdout)
	if r.status != 3 || c.failure == nil || c.failure.Reason != "CANCELLED" {
		t.Fatalf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	cancelled, _ := find(c, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestCancelled, bool) {
		return e.GetMcpRequestCancelled(), e.GetMcpRequestCancelled().GetRequestId() == "mine"
	})
	if cancelled.GetSubject() != "wait:forever" || cancelled.GetCancellation().GetReason() != "enough" {
		t.Errorf("cancelled: %v", cancelled)
	}
	if n := p.server.Count(func(m fakeserver.Message) bool {
		return m.Method == "notifications/cancelled" && string(m.Param("reason")) == `"enough"`
	}); n != 1 {
		t.Errorf("the server heard of it %d times", n)
	}
}

func TestPrompt(t *testing.T) {
	p := inBubbles(t)
	p.fake = libraryServer
	r := p.run("prompt", "--stdio", "fake", "--name", "greet", "--args", `{"who":"Ada"}`)
	if r.status != 0 || r.stdout != "user: Greet Ada!\n" || !strings.Contains(r.stderr, "prompts/get greet on stdio") {
		t.Errorf("status %d, stdout %q\n%s", r.status, r.stdout, r.stderr)
	}
	r = p.run("prompt", "--json", "--stdio", "fake", "--name", "greet", "--args", `{"who":"Ada"}`)
	var response mcphubv1.GetMcpPromptResponse
	lastMessage(t, r.stdout, "getMcpPromptResponse", &response)
	if r.status != 0 || !strings.Contains(response.GetResultJson(), "Greet Ada!") {
		t.Errorf("--json: status %d, %v", r.status, &response)
	}
}
