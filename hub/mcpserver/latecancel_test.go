package mcpserver

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// TestCancelBehindTheHandler: a cancel may be read when the handler of its call has returned and the peer has not taken
// the answer yet. The call's stream ends all the same. Without that it stayed open for as long as the session.
func TestCancelBehindTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := New(Options{})
		defer server.Close(nil)
		session := &Session{server: server}
		conn := newWebConn(server.o.Bounds, server.backlog, share{}, &session.use)
		id := jsonrpc.IntID(7)
		reads, _ := conn.read(postRead{[]jsonrpc.ID{id}})
		conn.requestRead(id)
		ctx, cancel := context.WithCancelCause(t.Context())
		request := &jsonrpc.Request{ID: id, Behind: routed{answer: json.RawMessage(`{}`)}}
		if _, err := session.webRequest(conn)(ctx, request); err != nil {
			t.Fatal(err)
		}
		cancel(&jsonrpc.WithdrawnError{Reason: "enough"})
		synctest.Wait()
		if o := reads.next(); o != (finish{}) {
			t.Errorf("the stream goes on: %v", o)
		}
	})
}
