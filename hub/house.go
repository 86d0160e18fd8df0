package hub

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/core"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/offers"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// house is the hub as seen by the packages that share its lock.
type house struct{ h *Hub }

// Update runs f with the lock.
func (o house) Update(f func()) { o.h.within(f) }

// Go runs f on a goroutine that Close waits for.
func (o house) Go(f func()) { o.h.work.Go(f) }

// Find returns the server of that name.
func (o house) Find(name string) offers.Server {
	if s := o.h.held().server(name); s != nil {
		return s.offered()
	}
	return offers.Server{}
}

// NotFound returns the error for a name that no server has.
func (o house) NotFound(name string) *event.Error { return o.h.held().noServer(name) }

// All returns the servers in config order. It leaves out the servers that are listed beside another one of their name,
// which have to be named to be used.
func (o house) All() []offers.Server {
	st := o.h.held()
	all := make([]offers.Server, 0, len(st.servers))
	for _, s := range st.servers {
		if s.launch.Of() == "" {
			all = append(all, s.offered())
		}
	}
	return all
}

// offered returns s in the form that package offers uses.
func (s *server) offered() offers.Server {
	return offers.Server{Server: s.Server, Policy: s.launch.Policy}
}

// Closed reports whether Close waits for the hub's goroutines, so that none may start any more.
func (o house) Closed() bool { return o.h.held().closed }

// Emit sends an event to the windows.
func (o house) Emit(b event.Body) { o.h.held().emit(b) }

// Delivered records and announces the outcome of a cancel that was pending when its request ended.
func (o house) Delivered(d *outcome.Delivery, s event.Sending) {
	o.h.windows.History.Delivered(d.Ended, s)
	o.h.held().emit(&event.RequestCancelDelivery{RequestID: d.Request, Server: d.Server, Sending: s})
}

// Draining reports whether new calls are refused.
func (o house) Draining() bool { return o.h.held().core.Draining() }

// owner implements servers.Owner, and the interfaces of other packages, for one server.
type owner struct{ *server }

// Prepare implements servers.Owner.
func (o owner) Prepare(ctx context.Context, conf config.Server) (config.Resolved, error) {
	return o.launch.Prepare(ctx, conf, false)
}

// AskSignIn shows a sign-in to the windows.
func (o owner) AskSignIn(ctx context.Context, q event.SignInQuestion, wanted func() bool, told func(by int)) error {
	return o.hub.askSignIn(ctx, o.server, q, wanted, told)
}

// BeginStart registers the request that represents a start.
func (o owner) BeginStart(limit time.Duration, expire func()) servers.Start {
	st := o.hub.held()
	r := &request{method: "initialize", direction: event.Outgoing, server: o.server, expire: expire,
		ctx: context.Background()}
	st.make(r, core.RequestMade{Prefix: "start", Server: o.number, Name: o.name, Start: true, Total: limit})
	return start{r}
}

// start is the request that represents the start of a server: a servers.Start.
type start struct{ r *request }

// End ends the request.
func (s start) End(err *event.Error, over core.StartOver) {
	e := ending{state: event.StateDone}
	if err != nil {
		e = ending{state: event.StateFailed, err: err}
	}
	s.r.ending = &e
	over.Request, over.Failed, over.Lost = s.r.number, err != nil, outcome.Disconnected(err)
	s.r.server.hub.held().apply(over)
}

// Connect makes the hub's side of a connection.
func (o owner) Connect(begun servers.Start, number core.ConnectionNumber) (servers.Client, mcp.Options) {
	h := o.hub
	c := &connection{Allowance: o.allowance, hub: h, number: number, server: o.server}
	return c, mcp.Options{
		Client: mcp.Implementation{Name: "mcphub", Title: "McpHub", Version: h.version},
		Tap:    h.tap, Trace: begun.(start).r.trace, NewTrace: h.newTrace, Outputs: o.allowance.Outputs,
		OnBound: func(e *mcp.BoundError) { o.allowance.OverBound("questionTooLarge", e.Text) },
	}
}

// Refusal returns the error for a launch that the user has declined.
func (o owner) Refusal() error { return o.launch.Refusal() }

// MustAsk reports whether the launch has no consent yet.
func (o owner) MustAsk() bool { return o.launch.MustAsk() }

// Info returns the server as windows show it.
func (o owner) Info() event.ServerInfo { return o.info() }

// Ordered unmutes the server and, with start, lets a declined launch be asked about again.
func (o owner) Ordered(start bool) {
	o.hub.held().mute(o.server, false, "")
	if start {
		o.launch.AskAgain()
	}
}

// TookEffect tells the window that has given the order that the order has taken effect.
func (o owner) TookEffect(ctx context.Context) { windows.TookEffect(ctx) }

// SeeWithdrawals tells the core which questions the server has withdrawn.
func (o owner) SeeWithdrawals() { o.hub.held().seeWithdrawalsIn(core.Scope{Server: o.number}) }

// Shown tells the windows of the server.
func (o owner) Shown(e core.ServerShown) { o.hub.held().shown(o.server, e) }

// Changed tells the windows that something has changed of the server besides its state.
func (o owner) Changed() { o.hub.held().changed(o.server) }

// ToolsChanged tells the windows that the list of tools may have changed.
func (o owner) ToolsChanged() { o.hub.held().emit(&event.ToolsChanged{Server: o.name}) }

// Up starts to watch the files whose change restarts the server.
func (o owner) Up() { o.hub.config.Started(o.server.Server) }

// Rested lets another entry take the server's place, if the config says so by now.
func (o owner) Rested() { o.launch.Settle() }

// Stderr sends the line to the windows as a log message.
func (o owner) Stderr(line string) { o.allowance.Stderr(line) }
