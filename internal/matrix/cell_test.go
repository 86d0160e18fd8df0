package matrix

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

// What a situation is played with.
const (
	withApprovals = "approvals" // a person has to agree to each call
	withoutStart  = "no start"
	withTasks     = "tasks"
	withLastTasks = "tasks that cannot be cancelled"
)

var capabilities = map[string]string{
	withTasks:     `{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}`,
	withLastTasks: `{"tools":{},"tasks":{"cancel":null,"requests":{"tools":{"call":{}}}}}`,
}

// cell plays one situation over one transport in one revision. It has a hub, a fake server and a window.
type cell struct {
	t       *testing.T
	binding binding
	situation
	fake    *fakeserver.Server
	http    *fakeserver.HTTP // nil over stdio
	tape    *tape
	hub     *hub.Hub
	view    *view
	url     string
	open    func(config.Server, func(string)) mcp.Opener // how the hub connects; nil: with its own transports
	calls   []chan struct{}                              // each is closed when its call has returned
	ending  []chan struct{}                              // those of the calls that were cancelled in this step
	served  *served
	release func()
	ended   bool   // a step has ended the session
	settled func() // waits until the current step is complete
	idle    func(time.Duration)
	gone    func() // waits until the hub has closed its last connection; nil in a bubble, which waits for that itself
}

// newCell returns a cell for a synctest bubble. Its server exists, but its hub does not yet, so that the situation can
// first say what the server does.
func newCell(t *testing.T, b binding, s situation) *cell {
	c := bareCell(t, b, s)
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

// bareCell returns a cell without a connection. Streams of 2025-11-25 can be resumed, so the transcripts show that the
// stream of a cancelled call is not.
func bareCell(t *testing.T, b binding, s situation) *cell {
	c := &cell{t: t, binding: b, situation: s, tape: newTape()}
	o := []fakeserver.Option{fakeserver.WithRevision(b.revision)}
	if b.modern() {
		o[0] = fakeserver.WithModern()
	}
	for _, w := range s.with {
		switch declared := capabilities[w]; {
		case declared != "" && b.modern():
			o = append(o, fakeserver.WithCapabilities(`{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`))
		case declared != "":
			o = append(o, fakeserver.WithCapabilities(declared))
		case w != withApprovals && w != withoutStart:
			t.Fatalf("nothing is played with %q", w)
		}
	}
	c.fake = fakeserver.New(o...)
	c.served = newServed(c)
	t.Cleanup(func() {
		if t.Failed() && c.hub != nil { // else the goroutines of the hub hide why
			c.served.endAll(true)
			_ = c.hub.Close(context.Background())
		}
	})
	if b.transport != stdio {
		c.http = fakeserver.NewHTTP(c.fake, fakeserver.HTTPOptions{Resumable: b.revision == rev2511})
	}
	return c
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
	if !slices.Contains(c.with, withApprovals) {
		entry += `,"alwaysAllow":["*"]`
	}
	_, problems, _, err := c.hub.LoadConfig(context.Background(),
		[]hub.ConfigSource{{Scope: "host", JSON: fmt.Sprintf(`{"mcpServers":{"s":{%s}}}`, entry)}})
	if err != nil || len(problems) > 0 {
		c.t.Fatal(problems, err)
	}
	c.view = attach(c.t, c.hub, c.tape)
}

// connect starts the server and lists its tools. It is over when the streams beside the calls are open, too.
func (c *cell) connect() {
	c.t.Helper()
	if _, err := c.hub.StartServer(context.Background(), "s"); err != nil {
		c.t.Fatal(err)
	}
	if c.binding.modern() && c.listens() {
		c.subscribed()
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

// fallen waits until the hub knows that the session is over, if a step has ended it.
func (c *cell) fallen() {
	c.t.Helper()
	if !c.ended {
		return
	}
	select {
	case <-c.view.fell:
	case <-time.After(faketime.Long):
		c.t.Fatal("the hub still takes the server for ready")
	}
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

// transcript returns all that is on the tape.
func (c *cell) transcript() string { return c.plain(c.tape.text()) }

// plain takes the name of the revision out of the headers, and leaves out the header where a legacy revision demands it
// (from 2025-06-18 on, after the start), so that revisions that differ in it alone share a transcript.
func (c *cell) plain(text string) string {
	const header, absent = " Mcp-Protocol-Version=", " without its version"
	if !c.binding.modern() && c.binding.revision >= rev2506 {
		for _, asked := range []string{"Mcp-Session-Id=<session>", "POST /messages"} {
			text = strings.ReplaceAll(text, asked, asked+absent)
		}
		text = strings.ReplaceAll(text, absent+header+c.binding.revision, "")
	}
	return strings.ReplaceAll(text, header+c.binding.revision, header+"<revision>")
}

// close closes the hub, and checks that no request, prompt, exchange or second subscription is left.
func (c *cell) close() {
	c.t.Helper()
	c.tape.begin("the hub ends", true)
	for _, returned := range c.calls {
		<-returned
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
	if n := len(c.fake.Subscriptions()); n > 1 {
		c.t.Errorf("%d subscriptions are open", n)
	}
	c.tape.finish()
	c.served.endAll(true)
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

var errNothingCame = errors.New("the transcript did not become what it should be")
