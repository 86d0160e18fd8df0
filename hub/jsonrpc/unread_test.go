package jsonrpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/jsontext"
)

// Finding A8. A message that is nested too deeply is not parsed: the call that it answers fails at once, and a request
// is answered with an error.
func TestDeepMessages(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, jsontext.MaxDepth) + strings.Repeat(`]}`, jsontext.MaxDepth)
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{})
		_, first := begin(t, p, t.Context(), "tools/call", "")
		_, second := begin(t, p, t.Context(), "tools/list", "")
		_, third := begin(t, p, t.Context(), "c", "")
		w.expect(t, called("1", "tools/call"), called("2", "tools/list"), called("3", "c"))
		w.send(
			answered("1", deep),
			`{"result":{"tools":`+deep+`},"jsonrpc":"2.0","id":2}`,
			`{"jsonrpc":"2.0","id":99,"result":`+deep+`}`,
			`{"id":3,"result":`+deep+`}`, // no JSON-RPC
			`{"jsonrpc":"2.0","id":"q","method":"m","params":`+deep+`}`,
			`{"jsonrpc":"2.0","method":"m","params":`+deep+`}`,
			deep, "["+deep+"]",
		)
		for _, got := range []<-chan outcome{first, second} {
			var invalid *jsonrpc.InvalidResponseError
			if o := <-got; !errors.As(o.err, &invalid) || !strings.Contains(o.err.Error(), "deep") {
				t.Errorf("the call got %.40s, %v", o.result, o.err)
			}
		}
		w.expect(t, `{"jsonrpc":"2.0","id":"q","error":{"code":-32600,"message":"the request is nested too deeply"}}`)
		check(t, "unknown", p.Stats().UnknownResponses, uint64(1))
		check(t, "bad lines", p.Stats().BadLines, uint64(5))
		w.send(answered("3", "3"))
		check(t, "third", string((<-third).result), "3")
	})
}

// Finding A10. A ping is answered by the reading goroutine, even when no more requests
// may be open, and is never counted.
func TestPingIsNeverCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle, MaxIncoming: 2})
		w.send(ask("1", "x"), ask("2", "x"), ask("3", "x"), ask(`"p"`, "ping"), ask("1", "ping"))
		w.expect(t,
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"too many open requests: wait until one ends"}}`,
			answered(`"p"`, "{}"),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a request with this id is pending"}}`,
		)
		check(t, "pending", len(p.Tracker().Pending()), 2)
		d.answer(t, "2", "2")
		w.expect(t, answered("2", "2"))
	})
}

// The pings of a peer that reads nothing do not block the reader, which gets the answer behind them, and do not fill
// the memory.
func TestPingsToAFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{WriteQueueBytes: 4096, StallLimit: -1})
		_, got := begin(t, p, t.Context(), "a", "")
		w.expect(t, called("1", "a"))
		w.fill()
		for i := range 1000 {
			w.send(ask(fmt.Sprint("\"p", i, "\""), "ping"))
		}
		w.send(answered("1", "1"))
		check(t, "result", string((<-got).result), "1")
		if n := p.Stats().DroppedResponses; n < 800 || n >= 1000 {
			t.Errorf("%d answers were dropped", n)
		}
	})
}

// Refusals are short, so they may take twice the room of the queue, and no more.
func TestRefusalsToAFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 4096
		p, w := start(t, jsonrpc.Options{WriteQueueBytes: room, StallLimit: -1})
		w.fill()
		for i := range 1000 {
			w.send(ask(fmt.Sprint(1000+i), "x"))
		}
		synctest.Wait()
		size := len(`{"jsonrpc":"2.0","id":1000,"error":{"code":-32601,"message":"method not found"}}`)
		if kept := 1000 - int(p.Stats().DroppedResponses); kept < 2*room/size || kept > 2*room/size+2 {
			t.Errorf("%d refusals of %d bytes wait in a queue of %d", kept, size, room)
		}
	})
}
