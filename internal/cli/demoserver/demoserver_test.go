package demoserver_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/exit"
)

// TestDemoServerUntilEOF: with --until-eof the server ends in order at the end of its input, which here is empty.
func TestDemoServerUntilEOF(t *testing.T) {
	p := clitest.Inside(t)
	_, record := p.DemoServer()
	r := p.Run("demo-server", "--http", "127.0.0.1:0", "--until-eof", "--record", record)
	if r.Status != 0 || !strings.HasPrefix(r.Stdout, "listening on ") {
		t.Errorf("status %d, stdout %q\n%s", r.Status, r.Stdout, r.Stderr)
	}
	if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), `"event":"closed"`) {
		t.Errorf("the record lacks the end: %v\n%s", err, text)
	}
}

// TestAddressTaken: an address that is in use is reported, and is no usage error; the hub of a page is closed again.
func TestAddressTaken(t *testing.T) {
	p := clitest.Inside(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for want, args := range map[string][]string{
		taken.Addr().String() + ": bind: ": {"demo-server", "--http", taken.Addr().String()}, // the rest is the system's
		"cannot be served":                 {"web", p.Config("mcp.json", `{"mcpServers":{}}`), "--port", port},
	} {
		if r := p.Run(args...); r.Status != exit.Server || r.Stdout != "" || !strings.Contains(r.Stderr, want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q", args, r.Status, r.Stdout, r.Stderr)
		}
	}
}
