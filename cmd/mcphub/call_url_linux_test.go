package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/doortest"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// demoServerHTTP runs the demo server over HTTP until the end of the test, and returns its address and its record.
func (p *program) demoServerHTTP() (url, record string) {
	p.t.Helper()
	record = p.dir + "/http-record.jsonl"
	server := p.command("demo-server", "--http", "127.0.0.1:0", "--record", record)
	line, err := doortest.Serve(p.t, server).ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	url, _, ok := strings.Cut(strings.TrimPrefix(line, "listening on "), "/mcp ")
	if !ok {
		p.t.Fatalf("stdout %q", line)
	}
	return url, record
}

// urlWays are the ways to reach a server behind a URL: the flags, and whether a cancel is sent as a notification.
var urlWays = []struct {
	name, path string
	args       []string
	notified   bool
}{
	{"found out", "/mcp", nil, false},
	{"Streamable HTTP, modern", "/mcp", []string{"--transport", "http", "--era", "modern"}, false},
	{"Streamable HTTP, legacy", "/mcp", []string{"--transport", "http", "--era", "legacy"}, true},
	{"SSE", "/sse", []string{"--transport", "sse"}, true},
	{"SSE, found out", "/sse", nil, true},
}

func TestCallURL_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	url, _ := p.demoServerHTTP()
	for _, way := range urlWays {
		if way.args != nil { // TestCallURLCancelReachesServer_real goes these ways
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			args := append([]string{"call", "--url", url + way.path, "--tool", "echo", "--args", `{"text":"two\nlines"}`,
				"--approve", "allow"}, way.args...)
			if r := p.run(args...); r.status != 0 || r.stdout != "two\nlines\n" {
				t.Errorf("status %d, stdout %q\n%s", r.status, r.stdout, r.stderr)
			}
		})
	}
}

// TestCallURLCancelReachesServer_real: a cancel travels as its binding says: as a notification with the reason, or as
// the close of the exchange and nothing else.
func TestCallURLCancelReachesServer_real(t *testing.T) {
	t.Parallel()
	for _, way := range urlWays {
		t.Run(way.name, func(t *testing.T) {
			p := build(t)
			url, record := p.demoServerHTTP()
			// The cancel waits for progress and not for a clock, so that the tool surely runs when it comes.
			r, lines, before := p.sleepingOn(t, append([]string{"--url", url + way.path, "--linger", "500ms"}, way.args...)...)
			if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(lines)
			if err != nil {
				t.Fatal(err)
			}
			status := r.wait()
			if c := readConversation(t, before+string(rest)); status != 3 || c.failure == nil || c.failure.Code != "CANCELLED" {
				t.Fatalf("status %d\n%s%s%s", status, before, rest, r.stderr.String())
			}
			text, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), `"event":"cancelled","tool":"sleep"`) {
				t.Errorf("the tool was not cancelled:\n%s", text)
			}
			if way.notified {
				heardCancel(t, record, errInterrupted.Error())
			} else if strings.Contains(string(text), `"event":"cancel_received"`) ||
				!strings.Contains(string(text), `"event":"disconnected","tool":"sleep"`) {
				t.Errorf("not cancelled by a close alone:\n%s", text)
			}
		})
	}
}

// TestCallURLHeader_real: headers of the command line reach the server with every request, and no output shows their
// values.
func TestCallURLHeader_real(t *testing.T) {
	t.Parallel()
	s := fakeserver.New()
	s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
	h := fakeserver.NewHTTP(s, fakeserver.HTTPOptions{})
	defer h.Close()
	server := httptest.NewServer(h)
	defer server.Close()
	p := build(t)
	for _, args := range [][]string{
		{"call", "--json", "--tool", "echo", "--approve", "allow"},
		{"call", "--tool", "echo", "--approve", "allow"},
		{"call", "--tool", "nothing", "--approve", "allow"},
		{"tools"}, {"servers", "--start"}, {"servers", "--start", "--json"},
	} {
		r := p.run(append(args, "--url", server.URL+fakeserver.PathMCP+"?key=s3cret-query", "--header",
			"Authorization: Bearer s3cret", "--header", "X-Team:blue")...)
		if out := r.stdout + r.stderr; strings.Contains(out, "s3cret") {
			t.Errorf("mcphub %q shows the secret:\n%s", args, out)
		}
	}
	exchanges := h.Exchanges()
	if len(exchanges) == 0 {
		t.Fatal("nothing came")
	}
	for _, x := range exchanges {
		if x.Header.Get("Authorization") != "Bearer s3cret" || x.Header.Get("X-Team") != "blue" {
			t.Errorf("%s %s came without them: %v", x.Verb, x.Message.Method, x.Header)
		}
	}
}

// TestCallURLTrouble_real: what is wrong at the other end ends with the status for a server's failure, and a message.
func TestCallURLTrouble_real(t *testing.T) {
	t.Parallel()
	p := build(t)
	s := fakeserver.New()
	h := fakeserver.NewHTTP(s, fakeserver.HTTPOptions{})
	defer h.Close()
	server := httptest.NewServer(h)
	gone := httptest.NewServer(nil)
	gone.Close()
	defer server.Close()
	h.On("POST initialize", 0, fakeserver.Act{Status: 200, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<html>login</html>"})
	for _, url := range []string{gone.URL + "/mcp", server.URL + "/nowhere", server.URL + fakeserver.PathMCP} {
		r := p.run("call", "--json", "--url", url, "--tool", "echo", "--approve", "allow")
		f := lastFailure(t, r.stdout)
		if r.status != 6 || f == nil || f.Message == "" {
			t.Errorf("%s: status %d, %+v", url, r.status, f)
		}
	}
	if t.Failed() {
		fmt.Println(strings.Join(h.Steps(), "\n"))
	}
}
