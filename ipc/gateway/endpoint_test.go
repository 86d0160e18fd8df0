package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/ipc/gateway"
)

// door is an endpoint on a network in memory.
type door struct {
	t      *testing.T
	memory *fakeserver.Memory
}

func newDoor(t *testing.T) *door {
	h := hub.New(hub.Options{Version: "test"})
	g, err := gateway.New(h, gateway.Options{})
	if err != nil {
		t.Fatal(err)
	}
	memory := fakeserver.NewMemory()
	e := gateway.Serve(g, memory, webToken)
	t.Cleanup(func() {
		e.Close(nil)
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &door{t, memory}
}

// dial opens a connection.
func (d *door) dial() *visitor {
	d.t.Helper()
	c, err := d.memory.Dial(context.Background(), "", "")
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Hour)) // what hangs fails
	return &visitor{c, bufio.NewReader(c)}
}

// visitor is one connection to a door.
type visitor struct {
	conn net.Conn
	read *bufio.Reader
}

// post sends the headers of a POST and as much of its body as is given. length is the announced length.
func (v *visitor) post(token, body string, length int) error {
	_, err := fmt.Fprintf(v.conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
		"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", token, length, body)
	return err
}

// answered returns the status of the next answer, or 0 if the connection was closed without one.
func (v *visitor) answered() int {
	r, err := http.ReadResponse(v.read, nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return r.StatusCode
}

// closed reports whether the gateway has closed the connection and sent nothing more on it.
func (v *visitor) closed() bool {
	n, err := io.Copy(io.Discard, v.read)
	return n == 0 && err == nil
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"c"}}}`

// TestStrangersKeepNobodyOut (finding G6): whoever lacks the token is refused before the body is read, and takes no
// place from those who have it: connections that wait for their next request stay, and others come in.
func TestStrangersKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		early := d.dial()
		if err := early.post(webToken, initialize, len(initialize)); err != nil || early.answered() != http.StatusOK {
			t.Fatal("the first client is not answered:", err)
		}
		var strangers []*visitor
		for range 1100 {
			v := d.dial()
			strangers = append(strangers, v)
			if err := v.post("wrong", `{"jsonrpc"`, 1000); err != nil {
				t.Fatal(err)
			}
			if got := v.answered(); got != http.StatusUnauthorized {
				t.Fatalf("a stranger whose body does not come is answered %d", got)
			}
		}
		for range 1100 { // these say nothing, or stop within their headers
			v := d.dial()
			strangers = append(strangers, v)
			if len(strangers)%2 == 0 {
				_, _ = io.WriteString(v.conn, "POST /mcp HTTP/1.1\r\nHost:")
			}
		}
		if err := early.post(webToken, initialize, len(initialize)); err != nil || early.answered() != http.StatusOK {
			t.Error("a client that was there before is not answered:", err)
		}
		late := d.dial()
		if err := late.post(webToken, initialize, len(initialize)); err != nil || late.answered() != http.StatusOK {
			t.Error("a client that comes later is not answered:", err)
		}
		for i, v := range strangers {
			if !v.closed() {
				t.Fatalf("stranger %d is not disconnected", i)
			}
		}
	})
}

// TestBodiesHaveADeadline: a body that does not come ends its request, also if the headers alone refuse it.
func TestBodiesHaveADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for _, path := range []string{"/mcp", "/other"} {
			v := d.dial()
			if _, err := io.WriteString(v.conn, strings.ReplaceAll("POST "+path+" HTTP/1.1\nHost: 127.0.0.1\n"+
				"Content-Type: text/plain\nAuthorization: Bearer "+webToken+"\nTransfer-Encoding: chunked\n\n5\n", "\n",
				"\r\n")); err != nil {
				t.Fatal(err)
			}
			v.answered()
			if !v.closed() {
				t.Errorf("the connection of a body for %s that does not come stays", path)
			}
		}
	})
}
