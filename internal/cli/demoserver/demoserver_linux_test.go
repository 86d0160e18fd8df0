package demoserver_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
)

// TestDemoServerOverHTTP_real: the server says where it listens, serves there, and ends in order on a signal while a
// tool still runs.
func TestDemoServerOverHTTP_real(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			p := clitest.Build(t)
			record := p.Folder + "/record.jsonl"
			r := p.Start("demo-server", "--http", "127.0.0.1:0", "--record", record)
			line := r.Stdout.First(t)
			m := regexp.MustCompile(
				`^listening on (http://127\.0\.0\.1:\d+)/mcp \(Streamable HTTP\) and /sse$`).FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("stdout %q", line)
			}
			q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m[1]+"/mcp", strings.NewReader(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"seconds":600,"steps":1000},"_meta":{"progressToken":1,`+
					`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{
				"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
				"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "sleep",
			} {
				q.Header.Set(name, value)
			}
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			answer, err := client.Do(q) // its headers come with the first progress
			if err != nil {
				t.Fatalf("%v\n%s", err, r.Stderr.String())
			}
			defer answer.Body.Close()
			if err := r.Cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if status := r.Wait(); status != 0 {
				t.Errorf("status %d\n%s", status, r.Stderr.String())
			}
			text, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`"event":"ready"`, `"event":"cancelled","tool":"sleep","reason":"interrupted"`,
				`"event":"closed"`} {
				if !strings.Contains(string(text), want) {
					t.Errorf("the record lacks %s:\n%s", want, text)
				}
			}
		})
	}
}
