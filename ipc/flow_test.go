package ipc

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/internal/fakeeditor"
	mcphubv1 "github.com/mcphub-go/mcphub/proto/mcphub/v1"
)

// frameCount counts the HTTP/2 frames that are read from a connection without TLS (RFC 9113, 4.1).
type frameCount struct {
	net.Conn
	seen func(kind, flags byte)

	header []byte
	skip   int // of the payload
}

func (f *frameCount) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if f.skip > 0 {
			k := min(f.skip, len(rest))
			f.skip, rest = f.skip-k, rest[k:]
			continue
		}
		k := min(9-len(f.header), len(rest))
		f.header, rest = append(f.header, rest[:k]...), rest[k:]
		if len(f.header) == 9 {
			f.seen(f.header[3], f.header[4])
			f.skip = int(binary.BigEndian.Uint32(f.header) >> 8)
			f.header = f.header[:0]
		}
	}
	return n, err
}

// A PING to the host with each message would wake it up for nothing.
func TestCallsAreNotPinged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHub{call: func(context.Context, hub.CallRequest) (*hub.CallResult, error) {
			return &hub.CallResult{RequestID: "r1", Result: []byte(`{"content":[]}`)}, nil
		}}
		s := grpc.NewServer(ServerOptions(Options{})...)
		register(s, h, Options{})
		var mu sync.Mutex
		frames := map[byte]int{}
		conn := fakeeditor.Serve(t, s, func(c net.Conn) net.Conn {
			return &frameCount{Conn: c, seen: func(kind, flags byte) {
				const data, ping, ack = 0, 6, 1
				mu.Lock()
				defer mu.Unlock()
				if kind == data || kind == ping && flags&ack == 0 {
					frames[kind]++
				}
			}}
		})
		for range 20 {
			if _, err := mcphubv1.NewMcpHubServiceClient(conn).CallTool(t.Context(),
				&mcphubv1.CallToolRequest{Server: "s", Tool: "t"}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if frames[0] < 20 || frames[6] > 0 {
			t.Errorf("20 calls brought %d DATA and %d PING frames; want 20 or more, and none", frames[0], frames[6])
		}
	})
}
