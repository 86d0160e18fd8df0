package bounds_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphub-go/mcphub/hub/bounds"
)

// Idle connections that have waited longest make room for new ones; one with a request in flight stays, and so does one
// that has just been used.
func TestConnectionsThatSayNothing(t *testing.T) {
	began, end := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(began)
			<-end
		}
	}))
	limit, accepted := bounds.NewConnections(4).Noted, make(chan struct{})
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		limit(c, state)
		if state == http.StateNew {
			accepted <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		<-accepted
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(5 * time.Minute)) // for a test that hangs
		return c
	}
	get := func(c net.Conn, path string) {
		_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	answered := func(name string, c net.Conn) {
		t.Helper()
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_ = r.Body.Close()
	}
	slow := dial()
	get(slow, "/slow")
	<-began
	kept := dial()
	get(kept, "/")
	answered("the kept one", kept)
	var silent []net.Conn
	for range 20 {
		c := dial()
		silent = append(silent, c)
		get(kept, "/") // it is never the one that has waited longest
		answered("the kept one", kept)
	}
	for i, c := range silent[:18] {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("the silent connection %d was sent something", i)
		}
	}
	get(silent[19], "/")
	answered("the newest one", silent[19])
	close(end)
	answered("the slow one", slow)
}

// A stranger takes no place of a client that has the token, and the oldest stranger gives way, also with a request. Of
// the clients, the one that has waited longest gives way; one too many is refused if all others have requests.
func TestConnectionsWithToken(t *testing.T) {
	c := bounds.NewTokenConnections(2, 2)
	conns := map[string]*closing{}
	open := func() (names string) {
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			if conns[name] != nil && !conns[name].closed {
				names += name
			}
		}
		return names
	}
	note := func(name string, state http.ConnState) {
		if state == http.StateNew {
			conns[name] = &closing{}
		}
		c.Noted(conns[name], state)
	}
	for _, step := range []struct {
		name  string
		state http.ConnState // -1: it is admitted, -2: it is refused
		open  string
	}{
		{"a", http.StateNew, "a"}, {"a", http.StateActive, "a"}, {"a", -1, "a"}, {"a", http.StateIdle, "a"},
		{"b", http.StateNew, "ab"}, {"b", http.StateActive, "ab"},
		{"c", http.StateNew, "abc"},
		{"d", http.StateNew, "acd"}, {"b", http.StateClosed, "acd"},
		{"d", http.StateActive, "acd"}, {"d", -1, "acd"},
		{"e", http.StateNew, "acde"},
		{"e", http.StateActive, "acde"}, {"e", -1, "cde"}, {"a", http.StateClosed, "cde"},
		{"f", http.StateNew, "cdef"}, {"f", http.StateActive, "cdef"}, {"f", -2, "cdef"}, {"d", -1, "cdef"},
		{"f", http.StateClosed, "cdef"}, {"d", http.StateIdle, "cdef"},
		{"g", http.StateNew, "cdefg"}, {"g", http.StateActive, "cdefg"}, {"g", -1, "cefg"},
	} {
		switch step.state {
		case -1, -2:
			if got := c.Admit(conns[step.name]); got != (step.state == -1) {
				t.Errorf("%v: %v", step, got)
			}
		default:
			note(step.name, step.state)
		}
		if got := open(); got != step.open {
			t.Errorf("%v: open are %s", step, got)
		}
	}
}

// closing is a connection that records its close.
type closing struct {
	net.Conn
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}
