//go:build unix

package e2e

import (
	"io"
	"log"
	"slices"
	"testing"

	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	"github.com/mcphub-go/mcphub/internal/peers"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// quiet discards what net/http logs about errors that tests cause on purpose.
var quiet = log.New(io.Discard, "", 0)

// remote is a server behind a URL.
func remote(kind, address string) entry {
	return entry{Type: kind, URL: address, Approvals: allowAll}
}

// way is a server on an SDK of others that keeps a journal, with the transport and the era by which it is reached.
type way struct {
	name    string
	open    func(testing.TB) *peers.Server
	kind    string // of transport, as a config names it
	era     string
	reasons bool // the SDK passes the reason of a cancel to the tool
}

var ways = []way{
	{"TypeScript 1, HTTP", peers.TypeScript1.HTTP, "http", "legacy", true},
	{"TypeScript 1, SSE", peers.TypeScript1.HTTP, "sse", "legacy", true},
	{"TypeScript 2, HTTP legacy", peers.TypeScript2.HTTP, "http", "legacy", true},
	{"TypeScript 2, HTTP modern", peers.TypeScript2.HTTP, "http", "modern", false},
	{"Go, HTTP legacy", openGoSDK, "http", "legacy", false},
	{"Go, HTTP modern", openGoSDK, "http", "modern", false},
	{"Go, SSE", openGoSDK, "sse", "legacy", false},
}

func openGoSDK(t testing.TB) *peers.Server {
	t.Helper()
	if err := goSDK(); err != nil {
		t.Fatal(err)
	}
	return peers.GoSDK.HTTP(t)
}

func (y way) modern() bool { return y.era == "modern" }

// address is the server's URL for this transport.
func (y way) address(s *peers.Server) string {
	if y.kind == "sse" {
		return s.SSEURL
	}
	return s.URL
}

func (y way) entry(s *peers.Server) entry {
	e := remote(y.kind, y.address(s))
	e.Era = y.era
	return e
}

// works checks that a peer works, by a call that runs to its end.
func (d *door) works(server string) {
	d.t.Helper()
	if text := d.call(server, "slow", `{"ms":50,"steps":5}`).text(); text != "done" {
		d.t.Fatalf("the call of slow gave %q", text)
	}
}

// requests counts the HTTP requests of a journal that match.
func requests(s *peers.Server, match func(peers.Event) bool) (n int) {
	for _, e := range s.Events() {
		if e.Event == peers.EventRequest && match(e) {
			n++
		}
	}
	return n
}

func ofMethod(method string) func(peers.Event) bool {
	return func(e peers.Event) bool { return e.Method == method }
}

// closedWith checks the end of a prompt in several windows.
func closedWith(t *testing.T, id string, causes []mcphubv1.PromptCause,
	windows ...*fakeeditor.Window) *mcphubv1.PromptClosed {
	t.Helper()
	var last *mcphubv1.PromptClosed
	for _, w := range windows {
		if last = w.WaitClosed(id); !slices.Contains(causes, last.GetCause()) {
			t.Errorf("%s: prompt %s closed with %v", w, id, last)
		}
	}
	return last
}
