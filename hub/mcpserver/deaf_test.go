package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/mcpserver"
)

// TestAnswersThatNobodyTakes: for a client on a pipe that sends requests and reads nothing, no more bytes wait than its
// queue and its open requests may have. When it reads again, it gets the refusals of the other requests.
func TestAnswersThatNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &handler{stop: map[string]context.CancelCauseFunc{}}
		s := newServer(h, mcpserver.Bounds{Queue: 1 << 20})
		toServer, in := io.Pipe()
		out, fromServer := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- s.Serve(context.Background(), jsonrpc.NewLineConn(toServer, fromServer, jsonrpc.LineConnOptions{}))
		}()
		say := func(line string) { _, _ = io.WriteString(in, line+"\n") }
		say(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
		long := strings.Repeat("x", 64<<10)
		const calls = 200
		for i := range calls {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"long":%q}}}`,
				i, long))
			synctest.Wait() // an answer counts once it is queued: with many unqueued ones, refusals would find no room
		}
		read := make(chan string)
		go func() {
			b, _ := io.ReadAll(out)
			read <- string(b)
		}()
		<-time.After(time.Second)
		_ = in.Close()
		<-ended
		_ = fromServer.Close()
		got := <-read
		if len(got) > 6<<20 {
			t.Errorf("%d bytes waited for it", len(got))
		}
		if refused := strings.Count(got, `"error":{"code":-32000`); refused < calls-100 || refused+strings.Count(got,
			`"result":{"long"`) != calls {
			t.Errorf("%d refused, %d answered", refused, strings.Count(got, `"result":{"long"`))
		}
		s.Close(nil)
	})
}
