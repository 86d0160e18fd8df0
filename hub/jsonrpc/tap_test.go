package jsonrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

// observer records what Options.Tap is called with. It removes the report of a message that was not written after all.
type observer struct {
	mu   sync.Mutex // guards seen
	seen []string
}

func (o *observer) tap(tag any, m jsonrpc.Observed) {
	line := fmt.Sprintf("%v: %v %v %s %s %d", tag, m.Sender, m.Kind, m.Method, m.ID, m.Bytes)
	for what, is := range map[string]bool{fmt.Sprintf(" code %d", m.Code): m.Code != 0, " dropped": m.Dropped} {
		if is {
			line += what
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !m.Unwritten {
		o.seen = append(o.seen, line)
		return
	}
	for i := len(o.seen) - 1; i >= 0; i-- {
		if o.seen[i] == line {
			o.seen = slices.Delete(o.seen, i, i+1)
			return
		}
	}
	o.seen = append(o.seen, line+" unwritten, and not reported before")
}

// want waits until every goroutine is blocked, and compares what was seen since its last call.
func (o *observer) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	o.mu.Lock()
	got := o.seen
	o.seen = nil
	o.mu.Unlock()
	check(t, "seen", got, want)
}

// tagged begins a call with a tag and waits for it in a goroutine.
func tagged(t *testing.T, p *jsonrpc.Peer, ctx context.Context, method string, tag any) <-chan outcome {
	t.Helper()
	c, err := p.BeginAs(method, nil, jsonrpc.How{Tag: tag})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan outcome, 1)
	go func() {
		result, err := c.Wait(ctx)
		got <- outcome{result, err}
	}()
	return got
}

func TestTapSeesTheMessagesOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observer
		p, w := start(t, jsonrpc.Options{Tap: o.tap})
		call := tagged(t, p, t.Context(), "tools/call", "A")
		o.want(t, fmt.Sprintf("A: outgoing request tools/call 1 %d", len(called("1", "tools/call"))))
		answer := answered("1", `{"a":1}`)
		w.send(answer)
		<-call
		o.want(t, fmt.Sprintf("A: incoming response tools/call 1 %d", len(answer)))
		call = tagged(t, p, t.Context(), "x", "B")
		synctest.Wait() // until it is written
		refusal := `{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"no"}}`
		w.send(refusal)
		<-call
		o.want(t, fmt.Sprintf("B: outgoing request x 2 %d", len(called("2", "x"))),
			fmt.Sprintf("B: incoming error x 2 %d code -32001", len(refusal)))
		if err := p.NotifyAs("n", nil, "C"); err != nil {
			t.Fatal(err)
		}
		o.want(t, fmt.Sprintf("C: outgoing notification n  %d", len(`{"jsonrpc":"2.0","method":"n"}`)))
	})
}

func TestTapSeesACancelAndALateResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observer
		p, w := start(t, jsonrpc.Options{Tap: o.tap})
		ctx, cancel := cancellable()
		call := tagged(t, p, ctx, "tools/call", "A")
		synctest.Wait()
		cancel("enough")
		<-call
		late := answered("1", `{}`)
		o.want(t, fmt.Sprintf("A: outgoing request tools/call 1 %d", len(called("1", "tools/call"))),
			fmt.Sprintf("A: outgoing notification notifications/cancelled 1 %d", len(cancelled("1", "enough"))))
		w.send(late, late)
		o.want(t, fmt.Sprintf("A: incoming response tools/call 1 %d dropped", len(late)),
			fmt.Sprintf("A: incoming response tools/call 1 %d dropped", len(late)))
	})
}

// An answer that is too long to be read is reported with its size, as dropped.
func TestTapSeesAnAnswerThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observer
		in, theirs := io.Pipe()
		p := jsonrpc.NewPeer(jsonrpc.NewLineConn(in, io.Discard, jsonrpc.LineConnOptions{MaxLine: 1000, Close: in.Close}),
			jsonrpc.Options{Tap: o.tap})
		defer p.Close(errTestOver)
		call := tagged(t, p, t.Context(), "tools/call", "A")
		synctest.Wait() // until it is written
		o.mu.Lock()
		o.seen = nil
		o.mu.Unlock()
		long := answered("1", `"`+strings.Repeat("x", 2000)+`"`)
		_, _ = io.WriteString(theirs, long+"\n")
		<-call
		o.want(t, fmt.Sprintf("A: incoming response tools/call 1 %d dropped", len(long)))
	})
}

func TestTapSeesRequestsOfThePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observer
		var d desk
		p, w := start(t, jsonrpc.Options{Tap: o.tap, HandleRequest: d.handle, OnRequest: func(r *jsonrpc.Request) {
			if r.Method != "roots/list" {
				r.Tag = "Q" + r.ID.String()
			}
		}})
		w.send(ask("7", "elicitation/create"), ask("8", "elicitation/create"), ask("9", "roots/list"))
		synctest.Wait()
		d.answer(t, "7", `{"x":1}`)
		d.answer(t, "9", `{}`)
		synctest.Wait()
		w.send(withdraw("8", "never mind"))
		size := len(ask("7", "elicitation/create"))
		o.want(t, fmt.Sprintf("Q7: incoming request elicitation/create 7 %d", size),
			fmt.Sprintf("Q8: incoming request elicitation/create 8 %d", size),
			fmt.Sprintf("Q7: outgoing response elicitation/create 7 %d", len(answered("7", `{"x":1}`))),
			fmt.Sprintf("Q8: incoming notification notifications/cancelled 8 %d", len(withdraw("8", "never mind"))),
			"Q8: outgoing response elicitation/create 8 0 dropped")
		_ = p
	})
}

// A queued message is reported when it is written, and not at all if it is cancelled before that.
func TestTapTellsWhatIsWritten(t *testing.T) {
	for _, try := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var o observer
			w := newWire()
			var conn jsonrpc.Conn = w
			if try {
				conn = &tryWire{wire: w}
			}
			p := jsonrpc.NewPeer(conn, jsonrpc.Options{Tap: o.tap})
			defer p.Close(errTestOver)
			w.fill()
			first := tagged(t, p, t.Context(), "first", "A") // the writer goroutine has taken this one and blocks
			synctest.Wait()
			ctx, cancel := cancellable()
			gone := tagged(t, p, ctx, "gone", "B")
			stays := tagged(t, p, t.Context(), "stays", "C")
			synctest.Wait()
			cancel("no")
			isCancelled(t, (<-gone).err, "no", false)
			o.want(t, fmt.Sprintf("A: outgoing request first 1 %d", len(called("1", "first"))))
			w.drain()
			o.want(t, fmt.Sprintf("C: outgoing request stays 3 %d", len(called("3", "stays"))))
			w.send(answered("1", "{}"), answered("3", "{}"))
			<-first
			<-stays
		})
	}
}

// A message that belongs to no request with a tag is not reported.
func TestTapIsSilentWithoutATag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o observer
		p, w := start(t, jsonrpc.Options{Tap: o.tap})
		_, call := begin(t, p, t.Context(), "ping", "")
		w.send(answered("1", "{}"), answered("5", "{}"), withdraw("6", "x"), note("notifications/progress", "{}"))
		if err := (<-call).err; err != nil {
			t.Fatal(err)
		}
		o.want(t)
	})
}

// A request is always reported before its answer, however fast that comes.
func TestTapOrderUnderLoad(t *testing.T) {
	const callers, each = 8, 100
	var o observer
	p, w := start(t, jsonrpc.Options{Tap: o.tap})
	stop := make(chan struct{})
	var server sync.WaitGroup
	server.Go(func() {
		for done := 0; done < callers*each; {
			select {
			case <-stop:
				return
			case <-w.wrote:
			}
			out := w.written()
			for ; done < len(out); done++ {
				id := strings.TrimPrefix(out[done], `{"jsonrpc":"2.0","id":`)
				id, _, _ = strings.Cut(id, ",")
				w.send(answered(id, "{}"))
			}
		}
	})
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range each {
				if _, err := p.CallAs(t.Context(), "m", nil, jsonrpc.How{Tag: fmt.Sprint(caller, " ", i)}); err != nil &&
					!errors.Is(err, jsonrpc.ErrClosed) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	close(stop)
	server.Wait()
	asked := map[string]bool{}
	for _, line := range o.seen {
		tag, what, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(what, "outgoing request") {
			asked[tag] = true
		} else if !asked[tag] {
			t.Fatalf("%s came before its request", line)
		}
	}
	if len(o.seen) != 2*callers*each {
		t.Errorf("%d messages were told", len(o.seen))
	}
}
