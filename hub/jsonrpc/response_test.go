package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

func TestResponseInHandWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{})
		ctx, cancel := cancellable()
		c, err := p.Begin("tools/call", nil)
		check(t, "begin", err, error(nil))
		w.expect(t, called("1", "tools/call"))
		w.send(answered("1", `{"done":true}`))
		synctest.Wait()
		cancel("too late")
		result, err := c.Wait(ctx)
		check(t, "error", err, error(nil))
		check(t, "result", string(result), `{"done":true}`)
		w.expect(t)
	})
	t.Run("behind a slow notification", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			p, w := start(t, jsonrpc.Options{HandleNotification: func(*jsonrpc.Notification) { <-release }})
			ctx, cancel := cancellable()
			_, got := begin(t, p, ctx, "tools/call", "")
			w.expect(t, called("1", "tools/call"))
			w.send(note("n", "{}"), answered("1", `{"done":true}`))
			synctest.Wait()
			check(t, "delivered before its turn", len(got), 0)
			cancel("too late")
			check(t, "result", string((<-got).result), `{"done":true}`) // without waiting for the handler
			w.expect(t)
			close(release)
		})
	})
}

func TestLateResponsesDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, w := start(t, jsonrpc.Options{})
		ctx, cancel := cancellable()
		_, got := begin(t, p, ctx, "tools/call", "")
		w.expect(t, called("1", "tools/call"))
		cancel("stop")
		isCancelled(t, (<-got).err, "stop", true)
		w.expect(t, cancelled("1", "stop"))
		w.send(answered("1", `{"late":true}`))
		w.send(`{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"context canceled"}}`)
		w.send(answered("99", `{}`), answered(`"x"`, `{}`))
		_, second := begin(t, p, t.Context(), "tools/call", "")
		w.expect(t, called("2", "tools/call"))
		w.send(answered("2", `{"n":1}`), answered("2", `{"n":2}`))
		check(t, "second call", string((<-second).result), `{"n":1}`)
		synctest.Wait()
		s := p.Stats()
		check(t, "late", s.LateResponses, uint64(2))
		check(t, "unknown", s.UnknownResponses, uint64(3))
	})
}

// TestQuietCallGivenUp: no cancel is sent for a quiet call that is given up, and OnLateResponse gets its late result.
func TestQuietCallGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []string
		p, w := start(t, jsonrpc.Options{OnLateResponse: func(r jsonrpc.LateResponse) {
			late = append(late, fmt.Sprintf("%s %s %s %t %t", r.ID, r.Method, r.Result, r.Quiet, r.Again))
		}})
		ctx, cancel := cancellable()
		c, err := p.BeginAs("tools/call", nil, jsonrpc.How{Quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		w.expect(t, called("1", "tools/call"))
		_, got := begin(t, p, ctx, "tools/call", "")
		w.expect(t, called("2", "tools/call"))
		cancel("stop")
		_, err = c.Wait(ctx)
		isCancelled(t, err, "stop", false)
		select {
		case <-c.Done():
		default:
			t.Error("the call is not done")
		}
		isCancelled(t, (<-got).err, "stop", true)
		w.expect(t, cancelled("2", "stop")) // and none for the first
		w.send(answered("1", `{"n":1.0}`), answered("2", `{"n":2}`),
			`{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"x"}}`)
		synctest.Wait()
		check(t, "late", strings.Join(late, "; "),
			`1 tools/call {"n":1.0} true false; 2 tools/call {"n":2} false false; 1 tools/call  true true`)
		check(t, "cancels", p.Stats().CancelsSent, uint64(1))
	})
}

// TestQuietCallForgotten: when the id of a cancelled quiet call gives way to later ones, its late response can no
// longer lead to the protocol's cancel. That is reported at once, and neither twice nor for calls that are still known.
func TestQuietCallForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		responses := map[string]int{}
		p, w := start(t, jsonrpc.Options{OnLateResponse: func(r jsonrpc.LateResponse) {
			responses[r.ID.String()]++
			r.Settle(nil)
		}})
		ctx, cancel := cancellable()
		cancel("stop")
		reports := map[int][]string{} // by call: the deliveries of its cancel
		cancelOne := func(n int) {
			c, err := p.BeginAs("tools/call", nil, jsonrpc.How{Quiet: true})
			if err != nil {
				t.Fatal(err)
			}
			w.expect(t, called(strconv.Itoa(n), "tools/call"))
			_, err = c.Wait(ctx)
			ce, ok := errors.AsType[*jsonrpc.CancelledError](err)
			if !ok {
				t.Fatalf("call %d ended with %v, want a CancelledError", n, err)
			}
			ce.OnDelivery(func(d jsonrpc.Delivery, _ error) {
				reports[n] = append(reports[n], d.String())
			})
		}
		const known = 4096
		for n := range known {
			cancelOne(n + 1)
		}
		check(t, "reports while all are known", len(reports), 0)
		cancelOne(known + 1)
		check(t, "reports after one more", fmt.Sprint(reports), "map[1:[failed]]")
		w.send(answered("1", "1"), answered("2", "2"))
		synctest.Wait()
		check(t, "late responses", fmt.Sprint(responses), "map[2:1]")
		check(t, "unknown responses", p.Stats().UnknownResponses, uint64(1))
		check(t, "reports after the responses", fmt.Sprint(reports), "map[1:[failed] 2:[delivered]]")
		cancelOne(known + 2) // takes the place of 2, whose cancel is delivered
		check(t, "reports at the end", fmt.Sprint(reports), "map[1:[failed] 2:[delivered]]")
	})
}

func TestResultsRelayedVerbatim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notes := make(chan *jsonrpc.Notification, 1)
		asked := make(chan *jsonrpc.Request, 1)
		p, w := start(t, jsonrpc.Options{
			HandleNotification: func(n *jsonrpc.Notification) { notes <- n },
			HandleRequest: func(_ context.Context, r *jsonrpc.Request) (json.RawMessage, error) {
				asked <- r
				return nil, nil
			},
		})
		const text = `{"n" : 9007199254740993, "f":1.10,"e":1E+2, "u":"\u00e9é` + "\xff" +
			`", "resultType":"task", "task":{"x":[1, 2]},"dup":1,"dup":2,"_meta":{}}`
		_, got := begin(t, p, t.Context(), "tools/call", text)
		w.expect(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+text+`}`)
		w.send(`{ "result" : ` + text + ` , "id" : 1 , "other":[{}], "jsonrpc" : "2.0" }`)
		check(t, "result", string((<-got).result), text)
		w.send(note("n", text), `{"params":`+text+`,"id":9,"jsonrpc":"2.0","method":"m"}`)
		check(t, "notification", string((<-notes).Params), text)
		check(t, "request", string((<-asked).Params), text)

		_, got = begin(t, p, t.Context(), "tools/call", "")
		w.send(`{"jsonrpc":"2.0","id":2,"error":{"code":-32042,"message":"a\"b","data": ` + text + `}}`)
		var e *jsonrpc.Error
		if err := (<-got).err; !errors.As(err, &e) {
			t.Fatalf("error %v", err)
		}
		check(t, "error", e, &jsonrpc.Error{Code: -32042, Message: `a"b`, Data: json.RawMessage(text)})
	})
}

func TestInvalidResponsesFailTheirCall(t *testing.T) {
	for response, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1}`: "neither result nor error",
		`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`:          "both result and error",
		`{"jsonrpc":"2.0","id":1,"error":"boom"}`:                                        "the error is no object",
		`{"jsonrpc":"2.0","id":1,"error":{"code":1.5}}`:                                  "the error has no integer code",
		`{"jsonrpc":"2.0","id":1,"error":{"code":9223372036854775808}}`:                  "the error has no integer code",
		`{"jsonrpc":"2.0","id":1,"error":null}`:                                          "neither result nor error",
		`{"jsonrpc":"2.0","id":1,"error":null,"result":{}}`:                              "",
		`{"jsonrpc":"2.0","id":1,"result":null}`:                                         "",
		`{"\u006asonrpc":"2\u002e0","\u0069d":1,"resul\u0074":{},"method\u0000":"none"}`: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			p, w := start(t, jsonrpc.Options{})
			_, got := begin(t, p, t.Context(), "tools/call", "")
			synctest.Wait()
			w.send(response)
			err := (<-got).err
			var invalid *jsonrpc.InvalidResponseError
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %v", response, err)
			case want != "" && (!errors.As(err, &invalid) || invalid.Detail != want):
				t.Errorf("%s: error %v, want %s", response, err, want)
			}
		})
	}
}
