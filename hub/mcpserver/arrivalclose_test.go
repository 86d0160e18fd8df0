package mcpserver

import (
	"net"
	"testing"
	"testing/synctest"
)

// TestConnectionThatIsClosed: who waits for the close of a connection is told of it once, whoever closed it and whether
// that was before, and not if another request came over the connection.
func TestConnectionThatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, how := range []string{"by the client", "by the server", "before", "used again"} {
			client, server := net.Pipe()
			conn, told := &watched{Conn: server}, 0
			left := func() { told++ }
			if how != "before" {
				conn.ended.do(left)
			}
			if how == "used again" {
				conn.ended.do(nil)
			}
			if how == "by the server" {
				_ = conn.Close()
			}
			_ = client.Close()
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Fatal("a read went well")
			}
			if how == "before" {
				conn.ended.do(left)
			}
			_ = conn.Close()
			if want := map[bool]int{true: 0, false: 1}[how == "used again"]; told != want {
				t.Errorf("closed %s: told %d times, want %d", how, told, want)
			}
		}
	})
}
