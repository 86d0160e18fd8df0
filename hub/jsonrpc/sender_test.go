package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphub-go/mcphub/hub/bounds"
	"github.com/mcphub-go/mcphub/hub/jsonrpc"
)

var errParcelLost = errors.New("the parcel was lost")

// came is what ReadMessage of a parcels returns: a message with its source, or an error in place of one.
type came struct {
	text   string
	source jsonrpc.ID
	err    error
}

// parcels is a Conn in memory that is a Sender and knows the source of a message. The test plays the other side.
type parcels struct {
	in   chan came
	dead chan struct{}
	once sync.Once

	mu      sync.Mutex // guards what follows
	sent    []jsonrpc.OutgoingMessage
	refuses error
}

func newParcels() *parcels {
	return &parcels{in: make(chan came, 1<<12), dead: make(chan struct{})}
}

func (c *parcels) ReadMessage(*bounds.Account) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return jsonrpc.Message{Text: []byte(m.text), Source: m.source}, m.err
	case <-c.dead:
		return jsonrpc.Message{}, io.ErrClosedPipe
	}
}

func (c *parcels) Send(m jsonrpc.OutgoingMessage) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuses != nil {
		return c.refuses
	}
	c.sent = append(c.sent, m)
	return nil
}

func (c *parcels) Close() error {
	c.once.Do(func() { close(c.dead) })
	return nil
}

// took returns the messages that were passed to Send so far.
func (c *parcels) took() []jsonrpc.OutgoingMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

func startParcels(t *testing.T, o jsonrpc.Options) (*jsonrpc.Peer, *parcels) {
	c := newParcels()
	p := jsonrpc.NewPeer(c, o)
	t.Cleanup(func() { p.Close(errTestOver) })
	return p, c
}

// partingLog is a CancelRoute and an Abandoner that records its calls.
type partingLog struct {
	mu   sync.Mutex // guards seen
	seen []string
}

func (r *partingLog) Cancel(_ *jsonrpc.Peer, id jsonrpc.ID, reason string, told func(error)) {
	defer told(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, "cancel "+id.String()+" "+reason)
}

func (r *partingLog) Abandon(_ *jsonrpc.Peer, id jsonrpc.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, "abandon "+id.String())
}

func (r *partingLog) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

// TestSenderTakesEverything: requests, notifications and answers go to the Sender, each with its id, method and extra.
func TestSenderTakesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := startParcels(t, jsonrpc.Options{HandleRequest: func(context.Context, *jsonrpc.Request) (json.RawMessage,
			error) {
			return json.RawMessage(`{"roots":[]}`), nil
		}})
		type headers struct{ region string }
		if _, err := p.BeginAs("tools/call", nil, jsonrpc.How{Extra: headers{"eu"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Begin("ping", nil); err != nil {
			t.Fatal(err)
		}
		if err := p.Notify("notifications/initialized", nil); err != nil {
			t.Fatal(err)
		}
		c.in <- came{text: ask(`"q"`, "roots/list")}
		synctest.Wait()
		var got []string
		for _, m := range c.took() {
			got = append(got, string(m.Message)+" "+m.ID.String()+" "+m.Method)
		}
		check(t, "handed over", got, []string{
			`{"jsonrpc":"2.0","id":1,"method":"tools/call"} 1 tools/call`,
			`{"jsonrpc":"2.0","id":2,"method":"ping"} 2 ping`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}  notifications/initialized`,
			`{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}  `,
		})
		if c.took()[0].Extra != any(headers{"eu"}) || c.took()[1].Extra != nil {
			t.Errorf("extras: %v", c.took())
		}
	})
}

// TestSenderCountsAsWritten: a request that was passed to the Sender counts as written, so its cancel takes the route,
// once. A request that opens a session is abandoned instead.
func TestSenderCountsAsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := &partingLog{}
		p, c := startParcels(t, jsonrpc.Options{Route: route})
		for _, method := range []string{"tools/call", "server/discover"} {
			ctx, cancel := cancellable()
			_, out := begin(t, p, ctx, method, "")
			synctest.Wait()
			cancel("enough")
			o := <-out
			isCancelled(t, o.err, "enough", method == "tools/call")
		}
		check(t, "routes", route.all(), []string{"cancel 1 enough", "abandon 2"})
		check(t, "messages", len(c.took()), 2)
		check(t, "cancels", p.Stats().CancelsSent, uint64(1))
	})
}

// TestAbandonWrittenOnly: Abandon is not called for a queued request: the connection holds nothing for it yet.
func TestAbandonWrittenOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		route := &partingLog{}
		p, w := start(t, jsonrpc.Options{Route: route})
		w.fill()
		ctx, cancel := cancellable()
		_, taken := begin(t, p, ctx, "server/discover", "")
		synctest.Wait()
		_, queued := begin(t, p, ctx, "initialize", "")
		synctest.Wait()
		cancel("enough")
		isCancelled(t, (<-taken).err, "enough", false)
		isCancelled(t, (<-queued).err, "enough", false)
		check(t, "routes", route.all(), []string{"abandon 1"})
		w.drain()
	})
}

// TestSenderNotifyRoute: the notifications/cancelled of the default route goes through the Sender too, behind its
// request.
func TestSenderNotifyRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := startParcels(t, jsonrpc.Options{})
		ctx, cancel := cancellable()
		_, out := begin(t, p, ctx, "tools/call", "")
		synctest.Wait()
		cancel("enough")
		isCancelled(t, (<-out).err, "enough", true)
		sent := c.took()
		check(t, "cancel", string(sent[1].Message), cancelled("1", "enough"))
		check(t, "method", sent[1].Method, "notifications/cancelled")
	})
}

// TestSenderRefuses: an error of Send ends the connection, and the call that met it fails with it.
func TestSenderRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := startParcels(t, jsonrpc.Options{})
		c.refuses = errors.New("the line is dead")
		if _, err := p.Begin("tools/call", nil); !errors.Is(err, jsonrpc.ErrClosed) || !errors.Is(err, c.refuses) {
			t.Errorf("got %v", err)
		}
		<-p.Done()
		if !errors.Is(p.Err(), c.refuses) {
			t.Errorf("Err: %v", p.Err())
		}
		check(t, "pending", len(p.Tracker().Pending()), 0)
	})
}

// TestSenderRaces: calls, cancels by id, answers, failures and the end at once. A cancel never overtakes its request,
// each call has one outcome, and nothing is left.
func TestSenderRaces(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			c := newParcels()
			p := jsonrpc.NewPeer(c, jsonrpc.Options{})
			var all sync.WaitGroup
			for i := range 64 {
				kind, end := rng.IntN(4), rng.IntN(200) == 0
				id := jsonrpc.IntID(int64(i + 1))
				all.Go(func() {
					_, err := p.Call(t.Context(), "tools/call", nil)
					var cancelled *jsonrpc.CancelledError
					switch {
					case err == nil, errors.Is(err, errParcelLost), errors.Is(err, jsonrpc.ErrClosed):
					case errors.As(err, &cancelled):
					default:
						t.Errorf("call: %v", err)
					}
				})
				all.Go(func() {
					runtime.Gosched()
					switch kind {
					case 0:
						_, _ = p.Tracker().Cancel(jsonrpc.Outgoing, id, errors.New("stop"))
					case 1:
						c.in <- came{text: answered(id.String(), "{}")}
					case 2:
						c.in <- came{err: &jsonrpc.CallFailedError{ID: id, Err: errParcelLost}}
					}
					if end {
						p.Abort(errTestOver)
					}
				})
			}
			synctest.Wait()
			p.Close(errTestOver)
			all.Wait()
			synctest.Wait()
			begun := map[string]bool{}
			for _, m := range c.took() {
				switch m.Method {
				case "tools/call":
					begun[m.ID.String()] = true
				default:
					var n struct {
						Params struct{ RequestID json.RawMessage }
					}
					if err := json.Unmarshal(m.Message, &n); err != nil || !begun[string(n.Params.RequestID)] {
						t.Errorf("%s before its request", m.Message)
					}
					begun[string(n.Params.RequestID)] = false // at most one
				}
			}
			check(t, "pending", len(p.Tracker().Pending()), 0)
			check(t, "goroutines left", engineGoroutines(), 0)
		})
	}
}

// TestCallFailedInOrder: a failure reaches its caller behind the notifications that came before it, and the connection
// goes on.
func TestCallFailedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlow()
		p, c := startParcels(t, jsonrpc.Options{HandleNotification: s.handle})
		_, out := begin(t, p, t.Context(), "tools/call", "")
		_, other := begin(t, p, t.Context(), "tools/call", "")
		synctest.Wait()
		c.in <- came{text: note("n", "{}")}
		c.in <- came{err: &jsonrpc.CallFailedError{ID: jsonrpc.IntID(1), Err: errParcelLost}}
		synctest.Wait()
		check(t, "failures before the notification was handled", len(out), 0)
		s.pass(1)
		if o := <-out; o.err != errParcelLost {
			t.Errorf("got %v", o.err)
		}
		c.in <- came{text: answered("2", `{"ok":1}`)}
		check(t, "the other", string((<-other).result), `{"ok":1}`)
	})
}

// TestCallFailedUnknown: failures of calls that are over, never were, or were cancelled change nothing; only those of
// no call are counted.
func TestCallFailedUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := startParcels(t, jsonrpc.Options{})
		ctx, cancel := cancellable()
		_, out := begin(t, p, ctx, "tools/call", "")
		synctest.Wait()
		cancel("enough")
		<-out
		for _, id := range []jsonrpc.ID{jsonrpc.IntID(1), jsonrpc.IntID(99), {}} {
			c.in <- came{err: &jsonrpc.CallFailedError{ID: id, Err: errParcelLost}}
		}
		synctest.Wait()
		check(t, "unknown", p.Stats().UnknownFailures, uint64(2))
		check(t, "late", p.Stats().LateResponses, uint64(0))
		if p.Err() != nil {
			t.Errorf("the connection ended: %v", p.Err())
		}
	})
}

// TestSource: the Source of an incoming request is our request in whose answer it came, and the zero ID if there is
// none.
func TestSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sources := make(chan string, 2)
		p, c := startParcels(t, jsonrpc.Options{HandleRequest: func(_ context.Context, r *jsonrpc.Request) (json.RawMessage,
			error) {
			sources <- r.ID.String() + " in " + r.Source.String()
			return nil, nil
		}})
		call, _ := begin(t, p, t.Context(), "tools/call", "")
		c.in <- came{text: ask("7", "elicitation/create"), source: call.ID()}
		check(t, "on a stream", <-sources, "7 in 1")
		c.in <- came{text: ask("8", "elicitation/create")}
		check(t, "on none", <-sources, "8 in ")
	})
}

// TestWithdrawalOvertakesItsRequest: with Overtaken, a request whose withdrawal came first is neither handled nor
// answered. A withdrawal that comes late has no effect on a later request with the same id.
func TestWithdrawalOvertakesItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for overtaken, want := range map[bool]string{
			true: "handled 2 3 3 1000 sent 5 withdrawn 1", false: "handled 1 2 3 3 1000 sent 6 withdrawn 0",
		} {
			handled := "handled"
			p, c := startParcels(t, jsonrpc.Options{Overtaken: overtaken, HandleRequest: func(_ context.Context,
				r *jsonrpc.Request) (json.RawMessage, error) {
				if len(r.ID.String()) < 5 {
					handled += " " + r.ID.String()
				}
				return nil, nil
			}})
			say := func(text string) {
				c.in <- came{text: text}
				synctest.Wait()
			}
			say(withdraw("1", "first"))
			say(ask("1", "elicitation/create"))
			say(ask("2", "elicitation/create"))
			say(ask("3", "elicitation/create"))
			say(withdraw("3", "too late"))
			say(ask("3", "elicitation/create"))
			for i := range 256 { // 1000 is forgotten
				say(withdraw(fmt.Sprint(1000+i), "much"))
			}
			say(withdraw("2000", "more"))
			say(ask("1000", "elicitation/create"))
			say(withdraw(`"long`+strings.Repeat("g", 200)+`"`, "not kept"))
			say(ask(`"long`+strings.Repeat("g", 200)+`"`, "elicitation/create"))
			got := fmt.Sprintf("%s sent %d withdrawn %d", handled, len(c.took()), p.Stats().WithdrawnRequests)
			check(t, fmt.Sprint("overtaken ", overtaken), got, want)
		}
	})
}
