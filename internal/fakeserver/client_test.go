package fakeserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

var errTestOver = errors.New("test is over")

// client is the client's end of a connection: it writes and reads lines. Each read fails the test after a minute of
// fake time.
type client struct {
	t     *testing.T
	w     io.Writer
	lines chan string // closed at the end of the server's output
}

// dial serves s over a net.Pipe. The returned function closes the client's side and waits until the server has ended.
func dial(t *testing.T, s *fakeserver.Server) (*client, func()) {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { served <- s.Serve(ctx, far, far) }()
	c := &client{t: t, w: near, lines: make(chan string, 100)}
	go func() {
		defer close(c.lines)
		r := bufio.NewScanner(near)
		for r.Scan() {
			c.lines <- r.Text()
		}
	}()
	end := func() {
		_ = near.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
		cancel(errTestOver)
	}
	return c, end
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.w, l+"\n"); err != nil {
			c.t.Fatalf("send %s: %v", l, err)
		}
	}
}

// want reads one line, which must be exactly this one.
func (c *client) want(line string) {
	c.t.Helper()
	select {
	case got, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("server ended, want %s", line)
		}
		if got != line {
			c.t.Fatalf("got  %s\nwant %s", got, line)
		}
	case <-time.After(time.Minute):
		c.t.Fatalf("nothing came, want %s", line)
	}
}

// wantPart reads one line that must contain all parts, and returns it.
func (c *client) wantPart(parts ...string) string {
	c.t.Helper()
	select {
	case got, ok := <-c.lines:
		if !ok {
			c.t.Fatalf("server ended, want %q", parts)
		}
		for _, p := range parts {
			if !strings.Contains(got, p) {
				c.t.Fatalf("got %s\nwant it to contain %s", got, p)
			}
		}
		return got
	case <-time.After(time.Minute):
		c.t.Fatalf("nothing came, want %q", parts)
	}
	return ""
}

// quiet checks that no line comes within a minute of fake time.
func (c *client) quiet() {
	c.t.Helper()
	select {
	case got, ok := <-c.lines:
		if ok {
			c.t.Fatalf("unexpected %s", got)
		}
		c.t.Fatal("server ended")
	case <-time.After(time.Minute):
	}
}

func (c *client) ended() {
	c.t.Helper()
	select {
	case got, ok := <-c.lines:
		if ok {
			c.t.Fatalf("unexpected %s", got)
		}
	case <-time.After(time.Minute):
		c.t.Fatal("server did not end")
	}
}

func (c *client) initialize() {
	c.t.Helper()
	c.send(
		`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	c.wantPart(`"id":"init"`, `"protocolVersion":"2025-11-25"`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// received returns the first message that matches, once all goroutines of the bubble are blocked.
func received(t *testing.T, s *fakeserver.Server, match func(fakeserver.Message) bool) fakeserver.Message {
	t.Helper()
	synctest.Wait()
	all := s.Received()
	i := slices.IndexFunc(all, match)
	if i < 0 {
		t.Fatal("no such message")
	}
	return all[i]
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func raw(s string) json.RawMessage { return json.RawMessage(s) }
