//go:build unix

package e2e

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// web is a scriptable server behind a URL, in this process, and the connections that the hub holds to it.
type web struct {
	t *testing.T
	*fakeserver.Server
	http *fakeserver.HTTP
	url  string // without a path

	mu    sync.Mutex // guards conns
	conns map[net.Conn]http.ConnState
}

func newWeb(t *testing.T, o fakeserver.HTTPOptions, options ...fakeserver.Option) *web {
	t.Helper()
	return newWebWith(t, o, nil, options...)
}

// newWebWith is newWeb with a handler around the server's.
func newWebWith(t *testing.T, o fakeserver.HTTPOptions, around func(http.Handler) http.Handler,
	options ...fakeserver.Option) *web {
	t.Helper()
	s := fakeserver.New(options...)
	addTools(s)
	s.Tool("slow", func(c *fakeserver.CallContext) {
		c.Progress(1, 2, "half")
		_ = c.Hang()
	})
	b := &web{t: t, Server: s, http: fakeserver.NewHTTP(s, o), conns: map[net.Conn]http.ConnState{}}
	var handler http.Handler = b.http
	if around != nil {
		handler = around(handler)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = quiet
	server.Config.ConnState = b.noteConn
	server.Start()
	b.url = server.URL
	t.Cleanup(func() {
		b.http.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return b
}

func (b *web) noteConn(c net.Conn, state http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(b.conns, c)
	} else {
		b.conns[c] = state
	}
}

// busy counts the connections that have an exchange under way.
func (b *web) busy() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, state := range b.conns {
		if state == http.StateActive {
			n++
		}
	}
	return n
}

func (b *web) open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.conns)
}

func (b *web) entry(era string) entry {
	e := remote("http", b.url+fakeserver.PathMCP)
	e.Era = era
	return e
}

// came waits for an exchange.
func (b *web) came(d *door, match func(fakeserver.Exchange) bool) fakeserver.Exchange {
	b.t.Helper()
	x, err := b.http.WaitExchange(d.ctx, match)
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

// exchanges counts the exchanges that match.
func (b *web) exchanges(match func(fakeserver.Exchange) bool) (n int) {
	for _, x := range b.http.Exchanges() {
		if match(x) {
			n++
		}
	}
	return n
}

// isPost matches the POST of a message; of a tool call also its tool.
func isPost(method, tool string) func(fakeserver.Exchange) bool {
	return func(x fakeserver.Exchange) bool {
		var name string
		if tool != "" {
			_ = json.Unmarshal(x.Message.Param("name"), &name)
		}
		return x.Verb == http.MethodPost && x.Message.Method == method && name == tool
	}
}

// openWeb opens a hub with a scriptable server behind a URL, a bystander over stdio, and a window. The caller must
// defer the function that it returns, which checks that the bystander was not disturbed.
func openWeb(t *testing.T, b *web, era string) (*door, *fakeeditor.Window, func()) {
	t.Helper()
	p := newPlace(t)
	d := p.open(servers{"web": b.entry(era), "bystander": p.fake()})
	w := d.window("side bar")
	d.echoes("bystander", "before")
	pid := d.server("bystander").GetProcessId()
	return d, w, func() {
		if t.Failed() {
			return
		}
		d.echoes("bystander", "after")
		if now := d.server("bystander").GetProcessId(); now != pid {
			t.Errorf("the bystander was disturbed: process %d became %d", pid, now)
		}
	}
}

// eraOptions returns the options of a scriptable server of one era.
func eraOptions(era string) []fakeserver.Option {
	if era == "modern" {
		return []fakeserver.Option{fakeserver.WithModern()}
	}
	return nil
}
