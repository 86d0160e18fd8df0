package mcpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/mcpserver"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// resets is a listener whose connections end with a reset if that is set.
type resets struct {
	net.Listener
	reset *atomic.Bool
}

func (l resets) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return resetting{c, l.reset}, nil
}

type resetting struct {
	net.Conn
	reset *atomic.Bool
}

func (c resetting) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, io.EOF) && c.reset.Load() {
		err = syscall.ECONNRESET
	}
	return n, err
}

// TestWhatBecomesOfARound: a round that was written to its last byte is given up with its call when the connection is
// reset. One whose connection is closed, or used again and then reset, waits for its retry. Finding F3.
func TestWhatBecomesOfARound(t *testing.T) {
	for name, c := range map[string]struct {
		reset, again bool
		parked       int
	}{
		"reset": {true, false, 0}, "closed": {false, false, 1}, "used again, then reset": {true, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &handler{stop: map[string]context.CancelCauseFunc{}}
				s := newServer(h, mcpserver.Bounds{})
				reset, memory := &atomic.Bool{}, fakeserver.NewMemory()
				web := &http.Server{Handler: s.HTTP(mcpserver.Guard{})}
				served := make(chan struct{})
				go func() {
					defer close(served)
					_ = web.Serve(mcpserver.Watch(web, resets{memory, reset}))
				}()
				client, err := memory.Dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				answers := bufio.NewReader(client)
				for _, tool := range []string{"one", "echo"} {
					if tool == "echo" && !c.again {
						break
					}
					body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{},` +
						modernMeta + `}}`
					_, _ = fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
						"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: %s\r\n"+
						"Content-Length: %d\r\n\r\n%s", tool, len(body), body)
					answer, err := http.ReadResponse(answers, nil)
					if err != nil {
						t.Fatal(err)
					}
					text, _ := io.ReadAll(answer.Body)
					if asked := strings.Contains(string(text), "input_required"); asked != (tool == "one") {
						t.Fatalf("%s: %s", tool, text)
					}
				}
				synctest.Wait()
				reset.Store(c.reset)
				_ = client.Close()
				synctest.Wait()
				if _, parked, _ := s.Left(); parked != c.parked {
					t.Errorf("%d calls are parked; the handler saw %s", parked, h.take())
				}
				s.Close(nil)
				_ = memory.Close()
				<-served
			})
		})
	}
}
