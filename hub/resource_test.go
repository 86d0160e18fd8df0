package hub_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

// inBothEras runs a test with servers of both eras that have resources and prompt templates.
func inBothEras(t *testing.T, f func(t *testing.T, s *offer)) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if modern {
					s := offering(fakeserver.WithModern())
					s.modern = true
					f(t, s)
				} else {
					f(t, offering())
				}
			})
		})
	}
}

// aside runs do, a request of the hub, in the background.
func aside(do func() (*hub.CallResult, error)) *pendingCall {
	p := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.result, p.err = do()
	}()
	return p
}

func (w *world) read(c hub.CallRequest) *pendingCall {
	return aside(func() (*hub.CallResult, error) { return w.hub.ReadResource(context.Background(), c) })
}

// A resource that is still fresh is read without a request on the wire, and the read has a terminal event like any
// other.
func TestReadWhatIsFresh(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := offering(fakeserver.WithModern())
		s.Handle("resources/read", func(c *fakeserver.CallContext) {
			c.Result(`{"resultType":"complete","ttlMs":60000,"cacheScope":"private","contents":[]}`)
		})
		w := newWorld(t, serversOf("s", s.Server))
		v := w.everything()
		w.read(hub.CallRequest{ID: "r1", Server: "s", URI: "file:///a"}).ok(t)
		if r := w.read(hub.CallRequest{ID: "r2", Server: "s", URI: "file:///a"}).ok(t); r.Rounds != 0 {
			t.Errorf("%+v", r)
		}
		v.terminalOf("r2")
		if n := s.Count(fakeserver.Method("resources/read")); n != 1 {
			t.Errorf("%d reads", n)
		}
	})
}

// A client of a gateway may send a URI of any length. One that is too long is refused, reaches no server, and is kept
// nowhere.
func TestLongURIIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := hanging()
		w := newWorld(t, serversOf("s", s), "s:"+allow)
		_, err := w.hub.ReadResource(t.Context(), hub.CallRequest{ID: "r", Server: "s", Caller: client("c"),
			URI: "file:///" + strings.Repeat("x", bounds.SubjectBytes)})
		if e := event.AsError(err); e == nil || e.Reason != event.ReasonInvalidRequest || len(e.Message) > 500 {
			t.Errorf("got %v", err)
		}
		if n := s.Count(func(m fakeserver.Message) bool { return m.Method == "resources/read" }); n != 0 {
			t.Errorf("%d reads reached the server", n)
		}
		w.nothingLeft()
	})
}
