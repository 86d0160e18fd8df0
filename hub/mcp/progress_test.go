package mcp

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
	"github.com/mcphub-go/mcphub/hub/protocol"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
)

func TestProgressRouting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		calls := make(chan *fakeserver.CallContext, 2)
		f.Tool("t", func(c *fakeserver.CallContext) {
			calls <- c
			c.Hang()
		})
		s := connect(t, f, &recorder{})
		var mu sync.Mutex
		got := map[string][]Progress{}
		start := func(name string) (*fakeserver.CallContext, <-chan outcome) {
			out := begin(background, s, &CallRequest{Name: "t", OnProgress: func(p Progress) {
				mu.Lock()
				defer mu.Unlock()
				if !strings.Contains(string(p.Params), `"progressToken"`) {
					t.Errorf("progress without its params: %+v", p)
				}
				p.Params = nil
				got[name] = append(got[name], p)
			}})
			return <-calls, out
		}
		a, doneA := start("a")
		b, doneB := start("b")
		tokenA, tokenB := string(a.ProgressToken()), string(b.ProgressToken())
		if tokenA == tokenB || tokenA == "" {
			t.Fatalf("tokens %s and %s", tokenA, tokenB)
		}
		a.Progress(1, 0, "")
		synctest.Wait()
		b.Progress(0.5, 4, "half")
		synctest.Wait()
		a.Progress(2, 3, "")
		// Progress with an unknown token or one of another JSON type, and malformed progress, is dropped.
		for _, params := range []string{
			`{"progressToken":"p99","progress":1}`, `{"progressToken":1,"progress":1}`, `{"progressToken":null,"progress":1}`,
			`{"progress":1}`,
			`{"progressToken":` + tokenA + `}`, `{"progressToken":` + tokenA + `,"progress":"1"}`, `[]`,
			`{"progressToken":` + strings.Trim(tokenA, `"`+"p") + `,"progress":1}`,
		} {
			if err := f.Notify(protocol.MethodProgress, params); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		a.Text("done")
		finished(t, doneA)
		a.Progress(3, 3, "too late")
		b.Text("done")
		finished(t, doneB)
		want := map[string][]Progress{
			"a": {{Progress: 1}, {Progress: 2, Total: 3, HasTotal: true}},
			"b": {{Progress: 0.5, Total: 4, HasTotal: true, Message: "half"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

// TestProgressOfAnotherRound: progress whose call was looked up before its round ended is dropped after that.
func TestProgressOfAnotherRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connect(t, fakeserver.New(), &recorder{})
		var got []float64
		call := &openCall{req: &CallRequest{OnProgress: func(p Progress) { got = append(got, p.Progress) }}}
		s.takeToken(call)
		token := call.held
		call.token = token
		call.deliver(token, Progress{Progress: 1})
		call.deliver(`"p0"`, Progress{Progress: 2})
		s.dropToken(call)
		call.deliver(token, Progress{Progress: 3})
		if len(got) != 1 || got[0] != 1 || len(s.progress) != 0 {
			t.Errorf("delivered %v, %d tokens left", got, len(s.progress))
		}
	})
}

// TestNoProgressAfterReturn: progress that a server sends right behind its answer never reaches a caller that has its
// result.
func TestNoProgressAfterReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) {
			c.Text("ok")
			c.Progress(1, 1, "")
			c.Progress(2, 1, "")
		})
		s := connect(t, f, &recorder{})
		for range 200 {
			var mu sync.Mutex
			returned := false
			_, err := s.CallTool(background, &CallRequest{Name: "t", OnProgress: func(Progress) {
				mu.Lock()
				defer mu.Unlock()
				if returned {
					t.Error("progress after the return")
				}
			}})
			mu.Lock()
			returned = true
			mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
	})
}

// TestOnWireComesFirst: the wire id is known before any progress of its round.
func TestOnWireComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fakeserver.New()
		f.Tool("t", func(c *fakeserver.CallContext) {
			c.Progress(1, 1, "")
			c.Text("ok")
		})
		s := connect(t, f, &recorder{})
		for range 100 {
			var mu sync.Mutex
			var order []string
			note := func(what string) {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, what)
			}
			var id jsonrpc.ID
			if _, err := s.CallTool(background, &CallRequest{
				Name: "t",
				OnWire: func(wire jsonrpc.ID) {
					id = wire
					for range 100 { // the progress is on its way by now
						runtime.Gosched()
					}
					note("wire")
				},
				OnProgress: func(Progress) { note("progress") },
			}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"wire", "progress"}, order); diff != "" {
				t.Fatalf("order (-want +got):\n%s", diff)
			}
			sent := lines(f, protocol.MethodCallTool)
			if string(sent[len(sent)-1].ID) != id.String() {
				t.Fatalf("OnWire said %s, the wire %s", id, sent[len(sent)-1].ID)
			}
		}
	})
}
