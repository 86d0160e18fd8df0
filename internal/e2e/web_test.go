//go:build unix

package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

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

func (b *web) entry(era string) entry {
	e := remote("http", b.url+fakeserver.PathMCP)
	e.Era = era
	return e
}

// eraOptions returns the options of a scriptable server of one era.
func eraOptions(era string) []fakeserver.Option {
	if era == "modern" {
		return []fakeserver.Option{fakeserver.WithModern()}
	}
	return nil
}
