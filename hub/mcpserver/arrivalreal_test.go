//go:build unix

package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

// asksOnce is a handler that asks one question in the course of each call.
type asksOnce struct{}

func (asksOnce) Request(ctx context.Context, c *Call) (json.RawMessage, error) {
	return c.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"`+strings.Repeat("x", 20_000)+`"}`))
}
func (asksOnce) Notified(*Session, string, json.RawMessage) {}
func (asksOnce) Ended(*Session, error)                      {}

// TestWhatBecomesOfARound_real: over a socket, a client that closes with the round unread has cancelled, and one that
// closes after it has read the round has not. Finding F3.
func TestWhatBecomesOfARound_real(t *testing.T) {
	for name, c := range map[string]struct {
		read   bool
		parked int
	}{"unread": {false, 0}, "read": {true, 1}} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Handler: asksOnce{}})
			defer s.Close(nil)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			closed := make(chan struct{}, 1)
			web := &http.Server{Handler: s.HTTP(Guard{}), ConnState: func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					closed <- struct{}{}
				}
			}}
			served := make(chan struct{})
			go func() {
				defer close(served)
				_ = web.Serve(Watch(web, l))
			}()
			client, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
			_, _ = fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"+
				"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: n\r\n"+
				"Content-Length: %d\r\n\r\n%s", len(body), body)
			answers := bufio.NewReaderSize(client, 16) // it leaves the rest in the socket
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.read {
				if _, err := io.ReadAll(answer.Body); err != nil {
					t.Fatal(err)
				}
			}
			_ = client.Close()
			<-closed
			if _, parked, _ := s.Left(); parked != c.parked {
				t.Errorf("%d calls are parked", parked)
			}
			_ = web.Close()
			<-served
		})
	}
}

// TestRoundForAClosedConnection_real: a client that closed before the bytes came has not got them. The reader sees the
// end of the connection alone; the reset that the bytes cause is found when the connection is closed.
func TestRoundForAClosedConnection_real(t *testing.T) {
	for _, late := range []bool{false, true} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := watching{l}.Accept()
		if err != nil {
			t.Fatal(err)
		}
		conn, lost := accepted.(*watched), false
		conn.reset.do(func() { lost = true })
		_ = client.Close()
		if _, err := io.ReadAll(conn); err != nil || lost {
			t.Fatalf("at the end of the stream: %v, lost: %v", err, lost)
		}
		if late {
			if _, err := conn.Write([]byte("late")); err != nil {
				t.Fatal(err)
			}
			raw, err := conn.Conn.(*net.TCPConn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			_ = raw.Control(func(fd uintptr) { // wait for the reset
				for {
					if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd)}}, -1); err != unix.EINTR {
						return
					}
				}
			})
		}
		if _ = conn.Close(); lost != late {
			t.Errorf("written after the end: %v, lost: %v", late, lost)
		}
		_ = l.Close()
	}
}

// TestResetBehindTheClose_real: net/http closes a connection right behind the last byte if the client does not want to
// keep it, and the reset that this byte causes may come after that.
func TestResetBehindTheClose_real(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := watching{l}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	lost := make(chan struct{})
	conn.(*watched).reset.do(func() { close(lost) })
	if _, err := conn.Write([]byte("a round")); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if _, err := client.Read(make([]byte, 1)); err != nil { // the rest is unread
		t.Fatal(err)
	}
	_ = client.Close()
	select {
	case <-lost:
	case <-time.After(faketime.Long):
		t.Fatal("nobody learned that the client has not got the round")
	}
}
