package matrix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/hub"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/transport"
	"github.com/mcphub-go/mcphub/internal/fakeserver"
	"github.com/mcphub-go/mcphub/internal/faketime"
)

// cell plays one situation over one transport in one revision. It has a hub, a fake server and a window.
type cell struct {
	t       *testing.T
	binding binding
	entry   string // further members of the server's entry in the config
	fake    *fakeserver.Server
	http    *fakeserver.HTTP // nil over stdio
	tape    *tape
	hub     *hub.Hub
	view    *view
	url     string
	open    func(config.Server, func(string)) mcp.Opener // how the hub connects; nil: with its own transports
	calls   []*call
	settled func() // waits until the current step is complete
	idle    func(time.Duration)
	gone    func() // waits until the hub has closed its last connection; nil in a bubble, which waits for that itself
}

// call is a tool call in the background.
type call struct {
	done   chan struct{}
	result *hub.CallResult
	err    error
}

// newCell returns a cell for a synctest bubble. Its server exists, but its hub does not yet, so that the situation can
// first say what the server does.
func newCell(t *testing.T, b binding) *cell {
	c := &cell{t: t, binding: b, entry: `"alwaysAllow":["*"]`, tape: newTape(), fake: newFake(b)}
	c.settled = synctest.Wait
	c.idle = func(d time.Duration) {
		faketime.Pass(d)
		synctest.Wait()
	}
	if b.transport == stdio {
		c.open = func(config.Server, func(string)) mcp.Opener {
			return func(context.Context) (*mcp.Link, error) { return spawn(c.fake, c.tape), nil }
		}
		return c
	}
	c.http = newHTTP(c.fake, b)
	memory, trip := listen(taped(c.tape, c.http), t)
	o := transport.HTTPOptions{URL: memory.URL(b.path()), RoundTripper: trip, Header: http.Header{}}
	c.url = o.URL
	c.open = func(config.Server, func(string)) mcp.Opener {
		if b.transport == sse {
			return mcp.SSE(o)
		}
		return mcp.HTTP(o)
	}
	return c
}

func newFake(b binding) *fakeserver.Server {
	var o []fakeserver.Option
	if b.modern() {
		o = append(o, fakeserver.WithModern())
	} else {
		o = append(o, fakeserver.WithRevision(b.revision))
	}
	if b.capabilities != "" {
		o = append(o, fakeserver.WithCapabilities(b.capabilities))
	}
	return fakeserver.New(o...)
}

// newHTTP returns the HTTP handler of a fake server. Streams of 2025-11-25 can be resumed, so the transcripts show that
// the stream of a cancelled call is not.
func newHTTP(fake *fakeserver.Server, b binding) *fakeserver.HTTP {
	return fakeserver.NewHTTP(fake, fakeserver.HTTPOptions{Resumable: b.revision == rev2511})
}

// listen serves a handler on in-memory connections until the end of the test.
func listen(h http.Handler, t *testing.T) (*fakeserver.Memory, *http.Transport) {
	m := fakeserver.NewMemory()
	server := &http.Server{Handler: h}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(m)
	}()
	trip := m.RoundTripper()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
		trip.CloseIdleConnections()
	})
	return m, trip
}

// prepare creates the hub and its window, and connects no server.
func (c *cell) prepare() {
	c.t.Helper()
	c.hub = hub.New(hub.Options{Version: "1", Open: c.open, Environ: []string{}})
	entry := `"command":"server"`
	if c.url != "" {
		entry = fmt.Sprintf(`"type":%q,"url":%q`, c.binding.transport, c.url)
	}
	_, problems, _, err := c.hub.LoadConfig(context.Background(),
		[]hub.ConfigSource{{Scope: "host", JSON: fmt.Sprintf(`{"mcpServers":{"s":{%s,%s}}}`, entry, c.entry)}})
	if err != nil || len(problems) > 0 {
		c.t.Fatal(problems, err)
	}
	c.view = attach(c.t, c.hub, c.tape)
}

// start prepares the cell and connects the server. It is not a step: the start has transcripts of its own.
func (c *cell) start() {
	c.t.Helper()
	c.prepare()
	c.connect()
}

// again connects the server again, as a step.
func (c *cell) again() {
	c.t.Helper()
	c.tape.begin("the server is needed again", true)
	c.connect()
}

func (c *cell) connect() {
	c.t.Helper()
	if _, err := c.hub.StartServer(context.Background(), "s"); err != nil {
		c.t.Fatal(err)
	}
	if c.binding.modern() && c.binding.capabilities == "" {
		if _, err := c.fake.WaitForSubscription(c.t.Context()); err != nil {
			c.t.Fatal(err)
		}
		if c.binding.transport == web {
			c.await("subscriptions/listen", "<")
		} else {
			c.settled()
		}
	}
	if _, failed, err := c.hub.Tools(context.Background(), "s"); err != nil || len(failed) > 0 {
		c.t.Fatal(failed, err)
	}
	if c.binding.transport == web && !c.binding.modern() {
		c.await("GET", "status")
	}
	c.settled()
}

// await waits for a line of an exchange on the tape.
func (c *cell) await(exchange, text string) {
	c.t.Helper()
	for {
		has, changed := c.tape.has(exchange, text)
		if has {
			return
		}
		select {
		case <-changed:
		case <-time.After(faketime.Long):
			c.t.Fatalf("nothing came of [%s] %s", exchange, text)
		}
	}
}

// fallen waits until the hub knows that the server is gone. The calls on its connection fail a moment earlier.
func (c *cell) fallen() {
	c.t.Helper()
	select {
	case <-c.view.fell:
	case <-time.After(faketime.Long):
		c.t.Fatal("the hub still takes the server for ready")
	}
}

// said makes a tool of the server wait until the cell closes what. If the test has failed, it returns.
func (c *cell) said(what <-chan struct{}) {
	select {
	case <-what:
	case <-c.t.Context().Done():
	}
}

// step runs do and waits until nothing happens any more. The tape records all messages of this time under the title.
func (c *cell) step(title string, do func()) {
	c.t.Helper()
	c.tape.begin(title, false)
	do()
	c.settled()
}

// looseStep is a step with independent HTTP exchanges, whose order the protocol does not fix.
func (c *cell) looseStep(title string, do func()) {
	c.t.Helper()
	c.tape.begin(title, true)
	do()
	c.settled()
}

// pass is a step in which only time passes.
func (c *cell) pass(title string, d time.Duration) {
	c.tape.begin(title, false)
	c.idle(d)
}

// subscribed returns the newest subscription of the fake server. It waits for it, because the fake may register a
// subscription a moment after it has acknowledged it.
func (c *cell) subscribed() *fakeserver.Subscription {
	c.t.Helper()
	ctx, cancel := context.WithTimeoutCause(c.t.Context(), faketime.Long, errNothingCame)
	defer cancel()
	sub, err := c.fake.WaitForSubscription(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return sub
}

// call starts a tool call in the background. Its request ids are r1, r2 and so on.
func (c *cell) call(tool string) *call {
	p := &call{done: make(chan struct{})}
	c.calls = append(c.calls, p)
	id := fmt.Sprintf("r%d", len(c.calls))
	go func() {
		defer close(p.done)
		p.result, p.err = c.hub.CallTool(context.Background(), hub.CallRequest{ID: id, Server: "s", Tool: tool})
	}()
	return p
}

// text waits for the result of a call and checks its text.
func (c *cell) text(p *call, want string) {
	c.t.Helper()
	<-p.done
	if p.err != nil || p.result.Error != nil {
		c.t.Fatalf("the call failed: %+v, %v", p.result, p.err)
	}
	if got := textOf(p.result.Result); got != want {
		c.t.Errorf("the result is %q, want %q", got, want)
	}
}

// failed waits for the end of a call and checks the error of the hub.
func (c *cell) failed(p *call, code event.Code, reason string) {
	c.t.Helper()
	<-p.done
	e, ok := errors.AsType[*event.Error](p.err)
	if !ok || e.Code != code || e.Reason != reason {
		c.t.Errorf("the call ended with %+v, %v; want %s %s", p.result, p.err, code, reason)
	}
}

// cancel cancels a request as the user does, and checks the outcome.
func (c *cell) cancel(id, reason string, want event.Outcome) {
	c.t.Helper()
	got, err := c.hub.CancelRequest(id, "", reason, event.OriginUser)
	if err != nil || got != want {
		c.t.Errorf("cancelling %s: outcome %d, %v; want %d", id, got, err, want)
	}
}

// cancelled checks the terminal event of a call that the user has cancelled, and the error that its caller got.
func (c *cell) cancelled(p *call, reason string, delivery event.CancelDelivery) {
	c.t.Helper()
	c.failed(p, event.CodeCancelled, event.ReasonCancelled)
	c.ended("r1", event.OriginUser, reason, delivery)
}

// ended checks the terminal event of a cancelled request. ServerMayContinue must be true unless nothing was sent to the
// server: that the server was told does not mean that it stops, in the modern era either. Finding B11.
func (c *cell) ended(id string, origin event.Origin, reason string, delivery event.CancelDelivery) {
	c.t.Helper()
	e, ok := c.view.end(id).(*event.RequestCancelled)
	mayContinue := delivery != event.DeliveryNotNeeded
	if !ok || e.Cancellation.Origin != origin || e.Cancellation.Reason != reason || e.Sending.Delivery != delivery ||
		e.ServerMayContinue != mayContinue {
		c.t.Errorf("%s ended with %+v; want cancelled by %s, %q, %s, may continue %t", id, c.view.end(id), origin, reason,
			delivery, mayContinue)
	}
}

// promptClosed checks how a prompt was closed.
func (c *cell) promptClosed(p event.PromptInfo, cause event.PromptCause, origin event.Origin, reason string) {
	c.t.Helper()
	c.view.mu.Lock()
	defer c.view.mu.Unlock()
	if e := c.view.closed[p.ID]; e == nil || e.Cause != cause || e.Origin != origin || e.Reason != reason {
		c.t.Errorf("%s closed with %+v; want %s by %s, %q", p.ID, e, cause, origin, reason)
	}
}

// close closes the hub, and checks that no request, prompt or exchange is left.
func (c *cell) close() {
	c.t.Helper()
	for _, p := range c.calls {
		<-p.done
	}
	c.view.complete()
	_, start, err := c.hub.Attach(hub.Hello{WindowID: "late", Kinds: allKinds}, newView(c.t, newTape()))
	if err != nil {
		c.t.Fatal(err)
	}
	// Over sockets a start may still be in progress here: its last message has been sent, but the hub has not read it.
	left := slices.DeleteFunc(start.Snapshot.Requests, func(r event.RequestInfo) bool {
		return r.State == event.StateConnecting && c.gone != nil
	})
	if len(left)+len(start.Snapshot.Prompts) > 0 {
		c.t.Errorf("requests %+v and prompts %+v are left", left, start.Snapshot.Prompts)
	}
	c.tape.begin("the hub ends", true)
	c.tape.finish()
	if err := c.hub.Close(context.Background()); err != nil {
		c.t.Errorf("closing the hub: %v", err)
	}
	c.settled()
	if c.http == nil {
		return
	}
	if c.gone != nil {
		c.gone()
	}
	for _, x := range c.http.Exchanges() {
		if !x.Ended {
			c.t.Errorf("the exchange %d %s %s is open after the end of the hub", x.N, x.Verb, x.Message.Method)
		}
	}
	c.http.Close()
}
