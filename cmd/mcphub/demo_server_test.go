package main

import (
	"net"
	"os"
	"strings"
	"testing"
)

// TestDemoServerUntilEOF: with --until-eof the server ends in order at the end of its input, which here is empty.
func TestDemoServerUntilEOF(t *testing.T) {
	p := inside(t)
	_, record := p.demoServer()
	r := p.run("demo-server", "--http", "127.0.0.1:0", "--until-eof", "--record", record)
	if r.status != 0 || !strings.HasPrefix(r.stdout, "listening on ") {
		t.Errorf("status %d, stdout %q\n%s", r.status, r.stdout, r.stderr)
	}
	if text, err := os.ReadFile(record); err != nil || !strings.Contains(string(text), `"event":"closed"`) {
		t.Errorf("the record lacks the end: %v\n%s", err, text)
	}
}

// TestAddressTaken: an address that is in use is reported, and is no usage error; the hub of a page is closed again.
func TestAddressTaken(t *testing.T) {
	p := inside(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for want, args := range map[string][]string{
		"in use":           {"demo-server", "--http", taken.Addr().String()},
		"cannot be served": {"web", p.config("mcp.json", `{"mcpServers":{}}`), "--port", port},
	} {
		if r := p.run(args...); r.status != exitServer || r.stdout != "" || !strings.Contains(r.stderr, want) {
			t.Errorf("mcphub %q: status %d, stdout %q, stderr %q", args, r.status, r.stdout, r.stderr)
		}
	}
}
