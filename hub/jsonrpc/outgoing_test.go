package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

type userCause struct{ reason string }

func (c userCause) Error() string        { return "internal words" }
func (c userCause) CancelReason() string { return c.reason }

func TestOutgoingCancelCarriesReason(t *testing.T) {
	for _, test := range []struct {
		name  string
		cause error
		want  string
	}{
		{"reasoner", userCause{"user pressed \"stop\"\n" + strings.Repeat("é", 300)}, `,"reason":"user pressed \"stop\"\n` +
			strings.Repeat("é", 300) + `"`},
		{"reasoner without words", userCause{}, ``},
		{"any cause", errors.New("idle timeout"), `,"reason":"idle timeout"`},
		{"bare", context.Canceled, ``},
		{"deadline", context.DeadlineExceeded, `,"reason":"context deadline exceeded"`},
		{"no UTF-8", errors.New("a\xffb\x00"), `,"reason":"a` + "\ufffd" + `b\u0000"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w := start(t, jsonrpc.Options{})
				ctx, cancel := context.WithCancelCause(t.Context())
				_, got := begin(t, p, ctx, "tools/call", "")
				w.expect(t, called("1", "tools/call"))
				cancel(test.cause)
				err := (<-got).err
				var c *jsonrpc.CancelledError
				if !errors.As(err, &c) || c.Cause != test.cause || !c.Sent {
					t.Fatalf("error %#v", err)
				}
				w.expect(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1`+test.want+`}}`)
			})
		})
	}
}

func TestCancelSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{})
		ctx, cancel := cancellable()
		c, first := begin(t, p, ctx, "tools/call", "")
		other, cancelOther := cancellable()
		second := make(chan error, 1)
		go func() {
			_, err := c.Wait(other)
			second <- err
		}()
		w.expect(t, called("1", "tools/call"))
		go cancel("one")
		go cancelOther("one")
		go p.Tracker().Cancel(jsonrpc.Outgoing, c.ID(), errors.New("one"))
		isCancelled(t, (<-first).err, "one", true)
		isCancelled(t, <-second, "one", true)
		ok, err := p.Tracker().Cancel(jsonrpc.Outgoing, c.ID(), errors.New("again"))
		check(t, "second cancel", ok, false)
		check(t, "second cancel", err, error(nil))
		w.expect(t, cancelled("1", "one"))
		check(t, "cancels sent", p.Stats().CancelsSent, uint64(1))
	})
}

func TestTrackerCancelFreesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{})
		c, got := begin(t, p, t.Context(), "tools/call", "")
		w.expect(t, called("1", "tools/call"))
		ok, err := p.Tracker().Cancel(jsonrpc.Outgoing, c.ID(), errors.New("stop"))
		check(t, "cancelled", ok && err == nil, true)
		isCancelled(t, (<-got).err, "stop", true)
		w.expect(t, cancelled("1", "stop"))
	})
}

func TestCancelBeforeWriteLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{})
		w.fill()
		_, written := begin(t, p, t.Context(), "first", "") // the writer has taken it, and blocks
		synctest.Wait()
		ctx, cancel := cancellable()
		_, queued := begin(t, p, ctx, "second", "")
		_, kept := begin(t, p, t.Context(), "third", "")
		synctest.Wait()
		cancel("never mind")
		isCancelled(t, (<-queued).err, "never mind", false)
		w.drain()
		w.expect(t, called("1", "first"), called("3", "third"))
		w.send(answered("1", "1"), answered("3", "3"))
		check(t, "first", string((<-written).result), "1")
		check(t, "third", string((<-kept).result), "3")
		check(t, "cancels sent", p.Stats().CancelsSent, uint64(0))
	})
}

func TestEndedContextSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tryWire{wire: newWire()} // would write at once
		p := jsonrpc.NewPeer(w, jsonrpc.Options{})
		defer p.Close(errTestOver)
		ctx, cancel := cancellable()
		cancel("over")
		_, err := p.Call(ctx, "tools/call", nil)
		isCancelled(t, err, "over", false)
		w.expect(t)
	})
}

// What the fast path could not write at once is queued, in order, and can still be removed as long as no byte of it was
// written.
func TestFastPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &tryWire{wire: newWire()}
		p := jsonrpc.NewPeer(w, jsonrpc.Options{})
		defer p.Close(errTestOver)
		var want []string
		for i := range 12 { // the 5th and 10th in two parts
			method := string(rune('a' + i))
			check(t, "notify", p.Notify(method, nil), error(nil))
			want = append(want, `{"jsonrpc":"2.0","method":"`+method+`"}`)
		}
		w.expect(t, want...)
		w.fill()
		_, first := begin(t, p, t.Context(), "first", "") // refused by the pipe, then with the writer
		synctest.Wait()
		ctx, cancel := cancellable()
		_, second := begin(t, p, ctx, "second", "")
		synctest.Wait()
		cancel("r")
		isCancelled(t, (<-second).err, "r", false)
		w.drain()
		w.expect(t, called("1", "first"))
		w.send(answered("1", "1"))
		check(t, "first", string((<-first).result), "1")
	})
}

func TestInitializeNeverCancelled(t *testing.T) {
	for _, method := range []string{"initialize", "server/discover"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, w := start(t, jsonrpc.Options{})
				ctx, cancel := cancellable()
				c, got := begin(t, p, ctx, method, "")
				w.expect(t, called("1", method))
				_, err := p.Tracker().Cancel(jsonrpc.Outgoing, c.ID(), errors.New("x"))
				check(t, "refused", errors.Is(err, jsonrpc.ErrUncancellable), true)
				check(t, "still pending", p.Tracker().IsPending(jsonrpc.Outgoing, c.ID()), true)
				cancel("start-up timed out") // releases the caller; nothing is sent
				isCancelled(t, (<-got).err, "start-up timed out", false)
				w.expect(t)
				w.send(answered("1", "{}"))
				synctest.Wait()
				check(t, "late", p.Stats().LateResponses, uint64(1))
			})
		})
	}
	t.Run("own list", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{Uncancellable: []string{"x"}})
			ctx, cancel := cancellable()
			_, x := begin(t, p, ctx, "x", "")
			_, y := begin(t, p, ctx, "initialize", "")
			w.expect(t, called("1", "x"), called("2", "initialize"))
			cancel("r")
			<-x
			<-y
			w.expect(t, cancelled("2", "r"))
		})
	})
}

// routeLog is a CancelRoute that records the cancels.
type routeLog struct{ calls chan string }

func (r routeLog) Cancel(_ *jsonrpc.Peer, id jsonrpc.ID, reason string, told func(error)) {
	defer told(nil)
	r.calls <- id.String() + " " + reason
}

func TestRouteDecidesHowACancelTravels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := routeLog{make(chan string, 2)}
		p, w := start(t, jsonrpc.Options{Route: route})
		ctx, cancel := cancellable()
		_, got := begin(t, p, ctx, "tools/call", "")
		w.expect(t, called("1", "tools/call"))
		cancel("r")
		<-got
		check(t, "route", <-route.calls, "1 r")
		w.expect(t)
	})
}

func TestSameIDsBothDirections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		ctx, cancel := cancellable()
		_, got := begin(t, p, ctx, "tools/call", "")
		w.send(ask("1", "elicitation/create"))
		w.expect(t, called("1", "tools/call"))
		// A cancel of the peer ends the peer's request, not ours.
		w.send(withdraw("1", "theirs"), withdraw("1", "theirs again"))
		w.expect(t)
		check(t, "ours is pending", p.Tracker().IsPending(jsonrpc.Outgoing, jsonrpc.IntID(1)), true)
		check(t, "unknown", p.Stats().UnknownCancels, uint64(1))
		// Our cancel ends our request, not the peer's.
		w.send(ask("1", "elicitation/create"))
		synctest.Wait()
		cancel("ours")
		isCancelled(t, (<-got).err, "ours", true)
		w.expect(t, cancelled("1", "ours"))
		d.answer(t, "1", `{}`)
		w.expect(t, answered("1", `{}`))
	})
}

func TestOutgoingCancelledByPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{OnOutgoingCancelled: func(id jsonrpc.ID, reason string) bool {
			return id == jsonrpc.IntID(1)
		}})
		_, listen := begin(t, p, t.Context(), "subscriptions/listen", "")
		_, call := begin(t, p, t.Context(), "tools/call", "")
		w.expect(t, called("1", "subscriptions/listen"), called("2", "tools/call"))
		w.send(withdraw("1", "bye"), withdraw("2", "not allowed"))
		var got *jsonrpc.WithdrawnError
		if err := (<-listen).err; !errors.As(err, &got) || got.Reason != "bye" {
			t.Fatalf("listen ended with %v", err)
		}
		w.expect(t)
		check(t, "unknown", p.Stats().UnknownCancels, uint64(1))
		w.send(answered("2", "{}"))
		check(t, "call", (<-call).err, error(nil))
	})
}

func TestParamsMustBeJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{})
		for _, params := range []string{`{`, `{},"id":7`, `{} {}`, "{\"a\":\"\n\"}"} {
			_, err := p.Begin("m", json.RawMessage(params))
			check(t, "begin "+params, errors.Is(err, jsonrpc.ErrInvalidJSON), true)
			check(t, "notify "+params, errors.Is(p.Notify("m", json.RawMessage(params)), jsonrpc.ErrInvalidJSON), true)
		}
		check(t, "notify", p.Notify("a\"\n\x7f", json.RawMessage("{\n}")), error(nil))
		w.expect(t, `{"jsonrpc":"2.0","method":"a\"\n\u007f","params":{ }}`)
		check(t, "pending", len(p.Tracker().Pending()), 0)
	})
}

func TestQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{WriteQueueBytes: 200})
		w.fill()
		ctx, cancel := cancellable()
		_, first := begin(t, p, ctx, "a", "")
		synctest.Wait()
		_, err := p.Begin("b", json.RawMessage(`"`+strings.Repeat("x", 200)+`"`))
		var full *jsonrpc.QueueFullError
		check(t, "begin", errors.As(err, &full), true)
		check(t, "notify", errors.As(p.Notify("b", json.RawMessage(`"`+strings.Repeat("x", 200)+`"`)), &full), true)
		check(t, "pending", len(p.Tracker().Pending()), 1)
		cancel("r") // is queued although the queue is full
		<-first
		w.drain()
		w.expect(t, called("1", "a"), cancelled("1", "r"))
	})
}
