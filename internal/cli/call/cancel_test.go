package call_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// Finding D1: --cancel-after counts from the moment in which the server has the request, however long its start takes;
// --cancel-at counts from the start of the command.
func TestCancelAfterReachesASlowServer(t *testing.T) {
	p := clitest.InBubbles(t)
	p.Slow = 3 * time.Second
	line, record := p.DemoServer()
	call := []string{"call", "--json", "--stdio", line, "sleep", "--args", `{"seconds":60}`, "--approve", "allow"}
	r := p.Run(append(call, "--cancel-after", "300ms", "--reason", "took too long")...)
	if c := clitest.ReadConversation(t, r.Stdout); r.Status != 3 || c.Failure == nil || c.Failure.Code != "CANCELLED" {
		t.Errorf("--cancel-after: status %d, %+v\n%s", r.Status, c.Failure, r.Stderr)
	}
	clitest.HeardCancel(t, record, "took too long")
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	r = p.Run(append(call, "--cancel-at", "300ms", "--reason", "too late")...)
	if c := clitest.ReadConversation(t, r.Stdout); r.Status != 3 || c.Failure == nil || c.Failure.Code != "CANCELLED" {
		t.Errorf("--cancel-at: status %d, %+v\n%s", r.Status, c.Failure, r.Stderr)
	}
	if text, _ := os.ReadFile(record); strings.Contains(string(text), "sleep") {
		t.Errorf("the request was sent after all:\n%s", text)
	}
}
