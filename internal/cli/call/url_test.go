package call_test

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/mcphub-go/mcphub/internal/cli/clitest"
	"github.com/mcphub-go/mcphub/internal/cli/door"
	"github.com/mcphub-go/mcphub/internal/demoserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

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

// TestCallURL: a server behind a URL is called in each way, and a cancel travels as its binding says: as a notification
// with the reason, or as the close of the exchange and nothing else.
func TestCallURL(t *testing.T) {
	for _, way := range urlWays {
		p := clitest.InBubbles(t)
		_, record := p.DemoServer()
		p.Site = func() http.Handler {
			journal, err := demoserver.OpenJournal(io.Discard, record)
			if err != nil {
				t.Fatal(err)
			}
			h := demoserver.NewHandler(demoserver.Options{}, journal)
			p.AtEnd(func() { h.Close(); _ = journal.Close() })
			return h
		}
		call := append([]string{"call", "--url", "http://127.0.0.1:1" + way.path, "--approve", "allow"}, way.args...)
		r := p.Run(append(call, "echo", "--args", `{"text":"two\nlines"}`)...)
		if r.Status != 0 || r.Stdout != "two\nlines\n" {
			t.Errorf("%s: status %d, stdout %q\n%s", way.name, r.Status, r.Stdout, r.Stderr)
		}
		r = p.InterruptedAt("  1 of 600", append(call, "sleep", "--args", `{"seconds":60,"steps":600}`)...)
		if r.Status != 3 {
			t.Errorf("%s: status %d\n%s%s", way.name, r.Status, r.Stdout, r.Stderr)
		}
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"event":"cancelled","tool":"sleep"`) {
			t.Errorf("%s: the tool was not cancelled:\n%s", way.name, text)
		}
		if way.notified {
			clitest.HeardCancel(t, record, door.ErrInterrupted.Error())
		} else if strings.Contains(string(text), `"event":"cancel_received"`) ||
			!strings.Contains(string(text), `"event":"disconnected","tool":"sleep"`) {
			t.Errorf("%s: not cancelled by a close alone:\n%s", way.name, text)
		}
	}
}

// fakeSite serves fake servers over HTTP in the bubbles of the commands. last returns the one of the last command.
func fakeSite(c *clitest.Commands, s func() *fakeserver.Server,
	prepare func(h *fakeserver.HTTP)) (last func() *fakeserver.HTTP) {
	var h *fakeserver.HTTP
	c.Site = func() http.Handler {
		h = fakeserver.NewHTTP(s(), fakeserver.HTTPOptions{})
		prepare(h)
		c.AtEnd(h.Close)
		return h
	}
	return func() *fakeserver.HTTP { return h }
}

// TestCallURLHeader: headers of the command line reach the server with every request, and no output shows their values.
func TestCallURLHeader(t *testing.T) {
	p := clitest.InBubbles(t)
	last := fakeSite(p, func() *fakeserver.Server {
		s := fakeserver.New()
		s.Tool("echo", func(c *fakeserver.CallContext) { c.Text("hello") })
		return s
	}, func(*fakeserver.HTTP) {})
	for _, args := range [][]string{
		{"call", "--json", "--tool", "echo", "--approve", "allow"},
		{"call", "--tool", "echo", "--approve", "allow"},
		{"call", "--tool", "nothing", "--approve", "allow"},
		{"tools"}, {"servers", "--start"}, {"servers", "--start", "--json"},
	} {
		r := p.Run(append(args, "--url", "http://127.0.0.1:1/mcp?key=s3cret-query", "--header",
			"Authorization: Bearer s3cret", "--header", "X-Team:blue")...)
		if out := r.Stdout + r.Stderr; strings.Contains(out, "s3cret") {
			t.Errorf("mcphub %q shows the secret:\n%s", args, out)
		}
		if len(last().Exchanges()) == 0 {
			t.Errorf("mcphub %q: nothing came", args)
		}
		for _, x := range last().Exchanges() {
			if x.Header.Get("Authorization") != "Bearer s3cret" || x.Header.Get("X-Team") != "blue" {
				t.Errorf("%s %s came without them: %v", x.Verb, x.Message.Method, x.Header)
			}
		}
	}
}

// TestCallURLTrouble: what is wrong at the other end ends with the status for a server's failure, and a message.
func TestCallURLTrouble(t *testing.T) {
	p := clitest.InBubbles(t)
	fakeSite(p, func() *fakeserver.Server { return fakeserver.New() }, func(h *fakeserver.HTTP) {
		h.On("POST initialize", 0, fakeserver.Act{Status: 200, Header: map[string]string{"Content-Type": "text/html"},
			Body: "<html>login</html>"})
	})
	for _, path := range []string{"/mcp", "/nowhere", "/closed"} {
		if path == "/closed" {
			p.Site = func() http.Handler { return nil }
		}
		r := p.Run("call", "--json", "--url", "http://127.0.0.1:1"+path, "--tool", "echo", "--approve", "allow")
		if f := clitest.LastFailure(t, r.Stdout); r.Status != 6 || f == nil || f.Message == "" {
			t.Errorf("%s: status %d, %+v", path, r.Status, f)
		}
	}
}
