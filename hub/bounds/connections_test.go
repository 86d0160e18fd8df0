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
