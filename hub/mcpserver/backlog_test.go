package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// network is a server over HTTP on a network in memory, on which a client that does not read holds up its writer.
type network struct {
	t      *testing.T
	server *mcpserver.Server
	memory *fakeserver.Memory
}

func newNetwork(t *testing.T, b mcpserver.Bounds, released func()) *network {
	s := newServer(&handler{stop: map[string]context.CancelCauseFunc{}}, b)
	s.OnRelease(released)
	n := &network{t, s, fakeserver.NewMemory()}
	web := &http.Server{Handler: s.HTTP(mcpserver.Guard{})}
	served := make(chan struct{})
	go func() { // waited for below
		defer close(served)
		_ = web.Serve(n.memory)
	}()
	t.Cleanup(func() {
		s.Close(nil)
		_ = web.Close()
		<-served
	})
	return n
}

// post sends a message on a connection of its own, and returns the reader of the answer.
func (n *network) post(session, body string) *bufio.Reader {
	n.t.Helper()
	conn, err := n.memory.Dial(context.Background(), "", "")
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Hour)) // what hangs fails
	if session != "" {
		session = "Mcp-Session-Id: " + session + "\r\n"
	}
	if _, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%s"+
		"Content-Length: %d\r\n\r\n%s", session, len(body), body); err != nil {
		n.t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

// answer reads an answer to its end.
func (n *network) answer(from *bufio.Reader) (status int, text string, header http.Header) {
	r, err := http.ReadResponse(from, nil)
	if err != nil {
		return 0, err.Error(), nil
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, err.Error(), r.Header
	}
	return r.StatusCode, string(b), r.Header
}

// open begins a legacy session of a client with that name. It returns "" if the session is refused.
func (n *network) open(name string) (session string) {
	_, _, header := n.answer(n.post("", `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":`+
		`"2025-11-25","capabilities":{},"clientInfo":{"name":"`+name+`"}}}`))
	return header.Get("Mcp-Session-Id")
}

func (n *network) alive(session string) bool {
	status, _, _ := n.answer(n.post(session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	<-time.After(time.Second) // no two uses are at the same time, and the exchange has ended
	return status == http.StatusOK
}

func echo(size int) string {
	return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"long":"` +
		strings.Repeat("x", size) + `"}}}`
}

// TestClientsThatReadNothing (finding F9): what waits for all clients together is bounded. Beyond it clients that read
// nothing give way, first the one for which most waits, and a client that reads is not affected. The memory goes back
// to the system.
func TestClientsThatReadNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		const size, most = 256 << 10, 2 << 20
		n := newNetwork(t, mcpserver.Bounds{QueueInAll: most, Queue: 2 * size}, func() { released.Add(1) })
		good := n.open("good")
		for round := range 3 {
			for i := range 12 {
				n.post(n.open("deaf"), echo(size)) // no one reads the answer
				modern := strings.TrimSuffix(modernMeta, "}") + `,"io.modelcontextprotocol/clientInfo":{"name":"modern"}}`
				conn, err := n.memory.Dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + modern +
					`,"arguments":{"long":"` + strings.Repeat("y", size) + `"}}}`
				_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
					"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: %d\r\n\r\n%s",
					len(body), body)
				synctest.Wait()
				if waiting, _ := n.server.Waiting(); waiting > most {
					t.Fatalf("%d bytes wait after %d clients", waiting, i+1)
				}
			}
			if status, text, _ := n.answer(n.post(good, echo(size))); status != http.StatusOK || len(text) < size {
				t.Fatalf("round %d: a client that reads gets %d, %.200s", round, status, text)
			}
		}
		if waiting, _ := n.server.Waiting(); waiting < most/2 {
			t.Errorf("only %d bytes wait: nobody was deaf", waiting)
		}
		<-time.After(time.Minute) // the others count as gone
		if waiting, kept := n.server.Waiting(); waiting != 0 || kept > 64<<20 {
			t.Errorf("%d bytes wait for clients that are gone, %d are kept", waiting, kept)
		}
		if released.Load() == 0 {
			t.Error("memory was not returned to the system")
		}
		if !n.alive(good) {
			t.Error("the session of the client that reads has ended")
		}
	})
}

// TestKeptEventsOfAllSessions: beyond the bound of all sessions each keeps a little, and none ends.
func TestKeptEventsOfAllSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, size = 1 << 20, 128 << 10
		n := newNetwork(t, mcpserver.Bounds{EventBytesInAll: most}, func() {})
		var all []string
		for i := range 20 {
			all = append(all, n.open(fmt.Sprint("client ", i)))
			if status, _, _ := n.answer(n.post(all[i], echo(size))); status != http.StatusOK {
				t.Fatal(status)
			}
			synctest.Wait()
			if _, kept := n.server.Waiting(); kept > most+size {
				t.Fatalf("%d bytes are kept", kept)
			}
		}
		for _, session := range all {
			if !n.alive(session) {
				t.Error("a session has ended")
			}
		}
	})
}

// TestSessionsGiveWay (finding F9): beyond the bound a session of the client that has most of them gives way, the one
// that was not used for longest. Who opens many displaces nobody else, and where no client has two, the new one is
// refused.
func TestSessionsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, mcpserver.Bounds{Sessions: 6}, func() {})
		one, two := n.open("one"), n.open("two")
		var greedy []string
		open := func() {
			<-time.After(time.Second)
			greedy = append(greedy, n.open("greedy"))
		}
		for range 4 {
			open()
		}
		<-time.After(time.Second)
		n.alive(greedy[0]) // the oldest is used
		for range 20 {
			open()
			n.alive(greedy[0])
		}
		synctest.Wait()
		for i, session := range greedy {
			if want := i == 0 || i > len(greedy)-4; n.alive(session) != want {
				t.Errorf("session %d of the client that opens many: alive %v", i, !want)
			}
		}
		if !n.alive(one) || !n.alive(two) {
			t.Error("a session of another client has given way")
		}
		for _, name := range []string{"three", "four", "five"} {
			if n.open(name) == "" {
				t.Errorf("client %s is refused", name)
			}
			<-time.After(time.Second)
		}
		if n.open("six") != "" || !n.alive(one) || !n.alive(two) || !n.alive(greedy[len(greedy)-1]) {
			t.Error("where all clients have one session, another one is admitted, or one gives way to it")
		}
		if n.open("one") == "" || n.alive(one) || !n.alive(two) {
			t.Error("of a client that opens a second session, where all have one, the first does not give way")
		}
	})
}
