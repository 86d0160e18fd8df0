package call_test

import (
	"encoding/json"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

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
	p := clitest.InBubbles(t)
	p.Fake = clitest.LibraryServer
	r := p.Run("read", "--stdio", "fake", "--uri", "file:///a")
	if r.Status != 0 || r.Stdout != "the text\n" || !strings.Contains(r.Stderr, "resource, file:///a, 1 bytes") ||
		!strings.Contains(r.Stderr, "resources/read file:///a on stdio") {
		t.Errorf("status %d, stdout %q\n%s", r.Status, r.Stdout, r.Stderr)
	}
	r = p.Run("read", "--json", "--stdio", "fake", "--uri", "file:///a", "--request-id", "mine")
	var response mcphubv1.ReadResourceResponse
	lastMessage(t, r.Stdout, "readResourceResponse", &response)
	if r.Status != 0 || response.GetRequestId() != "mine" || !strings.Contains(response.GetResultJson(), "the text") {
		t.Errorf("--json: status %d, %v", r.Status, &response)
	}
	if r := p.Run("read", "--stdio", "fake", "--uri", "file:///none"); r.Status != 1 ||
		!strings.Contains(r.Stderr, "mcphub read: the server answered error -32002: no such thing") {
		t.Errorf("an error of the server: status %d\n%s", r.Status, r.Stderr)
	}
}

// TestReadCancel: a read is cancelled as a call is, and the server is sent the reason.
func TestReadCancel(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Fake = clitest.LibraryServer
	r := p.Run("read", "--json", "--stdio", "fake", "--uri", "wait:forever", "--request-id", "mine", "--cancel-after", "2s",
		"--reason", "enough")
	c := clitest.ReadConversation(t, r.Stdout)
	if r.Status != 3 || c.Failure == nil || c.Failure.Reason != "CANCELLED" {
		t.Fatalf("status %d\n%s%s", r.Status, r.Stdout, r.Stderr)
	}
	cancelled, _ := clitest.Find(c, func(e *mcphubv1.AttachResponse) (*mcphubv1.McpRequestCancelled, bool) {
		return e.GetMcpRequestCancelled(), e.GetMcpRequestCancelled().GetRequestId() == "mine"
	})
	if cancelled.GetSubject() != "wait:forever" || cancelled.GetCancellation().GetReason() != "enough" {
		t.Errorf("cancelled: %v", cancelled)
	}
	if n := p.Server.Count(func(m fakeserver.Message) bool {
		return m.Method == "notifications/cancelled" && string(m.Param("reason")) == `"enough"`
	}); n != 1 {
		t.Errorf("the server heard of it %d times", n)
	}
}

func TestPrompt(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Fake = clitest.LibraryServer
	r := p.Run("prompt", "--stdio", "fake", "--name", "greet", "--args", `{"who":"Ada"}`)
	if r.Status != 0 || r.Stdout != "user: Greet Ada!\n" || !strings.Contains(r.Stderr, "prompts/get greet on stdio") {
		t.Errorf("status %d, stdout %q\n%s", r.Status, r.Stdout, r.Stderr)
	}
	r = p.Run("prompt", "--json", "--stdio", "fake", "--name", "greet", "--args", `{"who":"Ada"}`)
	var response mcphubv1.GetMcpPromptResponse
	lastMessage(t, r.Stdout, "getMcpPromptResponse", &response)
	if r.Status != 0 || !strings.Contains(response.GetResultJson(), "Greet Ada!") {
		t.Errorf("--json: status %d, %v", r.Status, &response)
	}
}
