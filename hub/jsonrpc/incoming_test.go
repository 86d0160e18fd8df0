package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

func TestIDsAreOpaque(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		ids := []string{`1`, `"1"`, `1.0`, `1e0`, `-0`, `9007199254740993`, `"a\u0062\n"`, `"` + "\xff" +
			`"`, `123456789012345678901234567890`, `""`}
		for _, id := range ids {
			w.send(ask(id, "elicitation/create"))
		}
		synctest.Wait()
		check(t, "pending", len(p.Tracker().Pending()), len(ids))
		// Cancelling 1 touches neither "1" nor 1.0.
		w.send(withdraw("1", ""))
		for _, id := range ids[1:] {
			w.expect(t)
			d.answer(t, id, `{}`)
			w.expect(t, answered(id, `{}`))
		}
		check(t, "withdrawn", p.Stats().WithdrawnRequests, uint64(1))

		// A response must have exactly the text of our id.
		_, got := begin(t, p, t.Context(), "tools/call", "")
		w.expect(t, called("1", "tools/call"))
		w.send(answered(`1.0`, `{}`), answered(`"1"`, `{}`), answered(`01`, `{}`), answered(`1`, `{"ok":true}`))
		check(t, "result", string((<-got).result), `{"ok":true}`)
		check(t, "unknown", p.Stats().UnknownResponses, uint64(2))
		check(t, "bad lines", p.Stats().BadLines, uint64(1))

		// No other type is an id.
		for _, id := range []string{`null`, `true`, `{}`, `[1]`} {
			w.send(ask(id, "roots/list"))
		}
		w.expect(t)
		check(t, "bad lines", p.Stats().BadLines, uint64(5))
	})
}

// TestRequestWithdrawnBeforeItCame: OnRequest may know that a request was cancelled before. It is then neither handled
// nor answered, and its id is free, but a request that opens the session goes on.
func TestRequestWithdrawnBeforeItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle, OnRequest: func(r *jsonrpc.Request) {
			r.Withdrawn = r.ID == jsonrpc.IntID(1)
		}})
		w.send(ask("1", "tools/call"), ask("2", "tools/call"))
		synctest.Wait()
		d.answer(t, "2", `{}`)
		w.expect(t, answered("2", `{}`))
		check(t, "pending", len(p.Tracker().Pending()), 0)
		check(t, "withdrawn", p.Stats().WithdrawnRequests, uint64(1))
		w.send(ask("1", "initialize"))
		synctest.Wait()
		d.answer(t, "1", `{}`)
		w.expect(t, answered("1", `{}`))
	})
}

func TestDuplicateIncomingID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		w.send(ask(`"q"`, "elicitation/create"), ask(`"q"`, "sampling/createMessage"))
		w.expect(t, `{"jsonrpc":"2.0","id":"q","error":{"code":-32600,"message":"a request with this id is pending"}}`)
		check(t, "duplicates", p.Stats().DuplicateIDs, uint64(1))
		d.answer(t, `"q"`, `{"first":1}`)
		w.expect(t, answered(`"q"`, `{"first":1}`))
		// Answered, the id is free again.
		w.send(ask(`"q"`, "elicitation/create"))
		synctest.Wait()
		d.answer(t, `"q"`, `{"second":1}`)
		w.expect(t, answered(`"q"`, `{"second":1}`))
	})
}

func TestWithdrawnRequestGetsNoResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		w.send(ask("1", "elicitation/create"), ask("2", "elicitation/create"), withdraw("1", "gone"))
		w.expect(t) // although the handler returns the form data
		check(t, "suppressed", p.Stats().SuppressedResponses, uint64(1))
		check(t, "pending", p.Tracker().IsPending(jsonrpc.Incoming, jsonrpc.IntID(1)), false)
		d.answer(t, "2", `{}`)
		w.expect(t, answered("2", `{}`))
	})
}

// A handler that ends long after its request was withdrawn must not answer a later request with the same id.
func TestWithdrawnHandlerLeavesLaterRequestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{}, 2)
		n := 0
		_, w := start(t, jsonrpc.Options{HandleRequest: func(context.Context, *jsonrpc.Request) (json.RawMessage, error) {
			n++
			result := fmt.Sprintf(`{"n":%d}`, n)
			<-release
			return json.RawMessage(result), nil
		}})
		w.send(ask("1", "a"))
		synctest.Wait()
		w.send(withdraw("1", ""))
		synctest.Wait()
		w.send(ask("1", "a"))
		synctest.Wait()
		release <- struct{}{} // for the first handler
		w.expect(t)
		release <- struct{}{}
		w.expect(t, answered("1", `{"n":2}`))
	})
}

func TestWithdrawnReasonReachesHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 1)
		_, w := start(t, jsonrpc.Options{HandleRequest: func(ctx context.Context, _ *jsonrpc.Request) (json.RawMessage,
			error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil, ctx.Err()
		}})
		for reason, want := range map[string]string{
			`"reason":"deadline \"passed\" é"`: `deadline "passed" é`,
			`"reason":null`:                    "",
			`"reason":7`:                       "",
			`"x":1`:                            "",
		} {
			w.send(ask(`"q"`, "sampling/createMessage"))
			w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{` + reason + `,"requestId":"q"}}`)
			var got *jsonrpc.WithdrawnError
			if cause := <-causes; !errors.As(cause, &got) {
				t.Fatalf("cause %v", cause)
			}
			check(t, reason, got.Reason, want)
			w.expect(t)
		}
	})
}

func TestUnknownCancelLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		w.send(withdraw("5", "too early"), withdraw("5", "too early"))
		w.send(ask("5", "elicitation/create"))
		synctest.Wait()
		check(t, "ended", d.ended(), []string(nil))
		d.answer(t, "5", `{}`)
		w.expect(t, answered("5", `{}`))
		w.send(withdraw("5", "too late"))
		w.expect(t)
		check(t, "unknown cancels", p.Stats().UnknownCancels, uint64(3))
	})
}

func TestMalformedCancelsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		w.send(ask("7", "elicitation/create"))
		bad := []string{`{}`, `null`, `[]`, `[7]`, `7`, `"7"`, `{"requestId":null}`, `{"requestId":{}}`, `{"requestId":[7]}`,
			`{"requestId":true}`, `{"reason":"x"}`, `{"requestID":7}`}
		for _, params := range bad {
			w.send(note("notifications/cancelled", params))
		}
		w.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
		w.send(withdraw("7.9", ""), withdraw("1e400", "")) // well-formed, but no open request has this id
		w.expect(t)
		check(t, "malformed", p.Stats().MalformedCancels, uint64(len(bad)+1))
		check(t, "unknown", p.Stats().UnknownCancels, uint64(2))
		check(t, "ended", d.ended(), []string(nil))
		d.answer(t, "7", `{}`)
		w.expect(t, answered("7", `{}`))
	})
}

func TestTooManyIncoming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		for i := range 64 {
			w.send(ask(fmt.Sprint(i), "elicitation/create"))
		}
		w.expect(t)
		w.send(ask("64", "elicitation/create"))
		w.expect(t, `{"jsonrpc":"2.0","id":64,"error":{"code":-32000,"message":"too many open requests: wait until one ends"}}`)
		check(t, "refused", p.Stats().RefusedRequests, uint64(1))
		// One withdrawn, one answered: room for two.
		w.send(withdraw("3", ""))
		d.answer(t, "4", `{}`)
		w.expect(t, answered("4", `{}`))
		w.send(ask("65", "elicitation/create"), ask("66", "elicitation/create"))
		w.expect(t)
		check(t, "pending", len(p.Tracker().Pending()), 64)
	})
}

// Requests that are aside take no place of the others, and have as many places of their own.
func TestRequestsAsideHaveTheirOwnPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		_, w := start(t, jsonrpc.Options{HandleRequest: d.handle, MaxIncoming: 2,
			OnRequest: func(r *jsonrpc.Request) { r.Aside = r.Method == "aside" }})
		refused := func(id string) string {
			return `{"jsonrpc":"2.0","id":` + id +
				`,"error":{"code":-32000,"message":"too many open requests: wait until one ends"}}`
		}
		for range 2 { // all places are free again
			w.send(ask("1", "aside"), ask("2", "aside"), ask("3", "x"), ask("4", "x"))
			w.expect(t)
			w.send(ask("5", "aside"), ask("6", "x"))
			w.expect(t, refused("5"), refused("6"))
			for _, id := range []string{"1", "2", "3", "4"} {
				d.answer(t, id, `{}`)
				w.expect(t, answered(id, `{}`))
			}
		}
	})
}

// The number of handlers that run on after their requests were withdrawn is bounded, too.
func TestLingeringHandlersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p, w := start(t, jsonrpc.Options{MaxIncoming: 2, HandleRequest: func(context.Context,
			*jsonrpc.Request) (json.RawMessage, error) {
			<-release
			return nil, nil
		}})
		for i := range 40 {
			w.send(ask(fmt.Sprint(i), "a"), withdraw(fmt.Sprint(i), ""))
		}
		synctest.Wait()
		check(t, "refused", p.Stats().RefusedRequests, uint64(8))
		close(release)
	})
}

func TestNoServerRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle, NoServerRequests: func() bool { return true }})
		w.send(ask("1", "elicitation/create"), ask("1", "roots/list"))
		w.expect(t)
		check(t, "dropped", p.Stats().DroppedRequests, uint64(2))
		check(t, "pending", len(p.Tracker().Pending()), 0)
	})
}

func TestAnswersOfHandlers(t *testing.T) {
	type reply struct {
		result string
		err    error
	}
	for _, test := range []struct {
		name  string
		reply reply
		want  string
	}{
		{"result", reply{result: `{"a": 1.0}`}, `"result":{"a": 1.0}`},
		{"nothing", reply{}, `"result":{}`},
		{"line breaks", reply{result: "{\r\n\"a\":1\n}"}, `"result":{  "a":1 }`},
		{"error", reply{err: &jsonrpc.Error{Code: -1, Message: "no\tthanks", Data: json.RawMessage(`[1]`)}},
			`"error":{"code":-1,"message":"no\tthanks","data":[1]}`},
		{"wrapped error", reply{err: fmt.Errorf("x: %w", &jsonrpc.Error{Code: -32602})},
			`"error":{"code":-32602,"message":""}`},
		{"foreign error", reply{err: errors.New("password is 123")}, `"error":{"code":-32603,"message":"internal error"}`},
		{"damaged result", reply{result: `{"a":1},"id":5`}, `"error":{"code":-32603,"message":"internal error"}`},
		{"damaged data", reply{err: &jsonrpc.Error{Code: 1, Message: "m", Data: json.RawMessage(`}`)}},
			`"error":{"code":1,"message":"m"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, w := start(t, jsonrpc.Options{HandleRequest: func(context.Context, *jsonrpc.Request) (json.RawMessage, error) {
					return json.RawMessage(test.reply.result), test.reply.err
				}})
				w.send(ask("1", "m"))
				w.expect(t, `{"jsonrpc":"2.0","id":1,`+test.want+`}`)
			})
		})
	}
	t.Run("no handler", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, w := start(t, jsonrpc.Options{})
			w.send(ask("1", "m"), ask("1", "m"))
			refusal := `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}`
			w.expect(t, refusal, refusal)
		})
	})
}

// A local cancel of an incoming request ends the handler, whose answer is sent: the peer did not withdraw it.
func TestLocalCancelOfIncomingIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{Server: "s", HandleRequest: d.handle})
		w.send(ask("1", "elicitation/create"))
		w.expect(t)
		ok, err := p.Tracker().Cancel(jsonrpc.Incoming, jsonrpc.IntID(1), errors.New("parent cancelled"))
		check(t, "cancel", ok && err == nil, true)
		w.expect(t, answered("1", `{"action":"accept","content":{"secret":"form data"}}`))
		check(t, "ended", d.ended(), []string{"1: parent cancelled"})
	})
}

// A client must not cancel the request that opens its session; one that does gets its answer all the same.
func TestOpeningRequestIsNotWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p, w := start(t, jsonrpc.Options{HandleRequest: d.handle})
		w.send(ask("1", "initialize"), withdraw("1", "changed my mind"))
		synctest.Wait()
		check(t, "ended", d.ended(), []string(nil))
		d.answer(t, "1", `{}`)
		w.expect(t, answered("1", `{}`))
		check(t, "unknown cancels", p.Stats().UnknownCancels, uint64(1))
	})
}
