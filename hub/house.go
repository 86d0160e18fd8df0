package hub

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/clock"
	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/offers"
	"github.com/mcphub-go/mcphub/hub/outcome"
	"github.com/mcphub-go/mcphub/hub/prompts"
	"github.com/mcphub-go/mcphub/hub/servers"
	"github.com/mcphub-go/mcphub/hub/signin"
	"github.com/mcphub-go/mcphub/hub/windows"
)

// house is the hub as the rooms see it that have its lock.
type house struct{ h *Hub }

// Update runs f with the lock.
func (o house) Update(f func()) { o.h.within(f) }

// Go runs f on a goroutine that Close waits for.
func (o house) Go(f func()) { o.h.work.Go(f) }

// Find finds a server by name.
func (o house) Find(name string) offers.Server {
	if s := o.h.held().server(name); s != nil {
		return s.offered()
	}
	return offers.Server{}
}

// NotFound is the error of a name that no server has.
func (o house) NotFound(name string) *event.Error { return o.h.held().noServer(name) }

// All gives the servers in config order, but for those beside another one of their name: they are for who names them.
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

// offered is s as the room of its offers sees it.
func (s *server) offered() offers.Server {
	return offers.Server{Server: s.Server, Policy: s.launch.Policy}
}

// Closed tells whether goroutines are being waited for.
func (o house) Closed() bool { return o.h.held().closed }

// Emit tells the windows.
func (o house) Emit(b event.Body) { o.h.held().emit(b) }

// Delivered tells the outcome of a cancel that was on its way.
func (o house) Delivered(d *outcome.Delivery, s event.Sending) {
	o.h.windows.History.Delivered(d.Ended, s)
	o.h.held().emit(&event.RequestCancelDelivery{RequestID: d.Request, Server: d.Server, Sending: s})
}

// Draining tells whether new calls are refused.
func (o house) Draining() bool { return o.h.held().draining }

// owner is what a server asks of the hub.
type owner struct{ *server }

// Prepare brings an entry to the point where it can be started.
func (o owner) Prepare(ctx context.Context, conf config.Server) (config.Resolved, error) {
	return o.launch.Prepare(ctx, conf, false)
}

// AskSignIn shows a sign-in to the windows.
func (o owner) AskSignIn(ctx context.Context, q signin.Prompt, wanted func() bool, told func(by int)) error {
	return o.hub.askSignIn(ctx, o.server, q, wanted, told)
}

// BeginStart registers the request that stands for a start.
func (o owner) BeginStart(limit time.Duration, expire func()) servers.Start {
	h, st := o.hub, o.hub.held()
	r := &request{id: st.mint("start"), method: "initialize", direction: event.Outgoing, server: o.server,
		uncancellable: true}
	st.register(context.Background(), r)
	r.clock, r.expire = clock.New(0, limit, func() { h.tick(r) }), expire
	st.moveTo(r, event.StateConnecting)
	r.wind(time.Now())
	return start{r}
}

// start is the request that stands for the start of a server.
type start struct{ r *request }

// Held tells whether a person is asked for it.
func (s start) Held() bool { return s.r.holds > 0 }

// End ends it.
func (s start) End(err *event.Error) {
	e := ending{state: event.StateDone}
	if err != nil {
		e = ending{state: event.StateFailed, err: err}
	}
	s.r.server.hub.held().end(s.r, e)
}

// Connect makes the hub's half of a connection.
func (o owner) Connect(begun servers.Start) (servers.Client, mcp.Options) {
	h := o.hub
	c := &connection{Allowance: o.allowance, hub: h, server: o.server}
	return c, mcp.Options{
		Client: mcp.Implementation{Name: "mcphub", Title: "McpHub", Version: h.version},
		Tap:    h.tap, Trace: begun.(start).r.trace, NewTrace: h.newTrace, Outputs: o.allowance.Outputs,
		OnBound: func(e *mcp.BoundError) { o.allowance.OverBound("questionTooLarge", e.Text) },
	}
}

// Refusal is that of a launch that the user has declined.
func (o owner) Refusal() error { return o.launch.Refusal() }

// MustAsk tells whether there is no consent to the launch.
func (o owner) MustAsk() bool { return o.launch.MustAsk() }

// Info adds what only the hub knows.
func (o owner) Info() event.ServerInfo { return o.info() }

// Ordered unmutes the server.
func (o owner) Ordered(start bool) {
	o.hub.held().mute(o.server, false, "")
	if start {
		o.launch.AskAgain()
	}
}

// TookEffect tells the window.
func (o owner) TookEffect(ctx context.Context) { windows.TookEffect(ctx) }

// Cancel cancels those that can be.
func (o owner) Cancel(cause *event.CancelCause) (overs []<-chan struct{}) {
	st := o.hub.held()
	for _, r := range st.requestsInOrder() {
		if r.server == o.server && !r.uncancellable && st.requests[r.id] == r {
			st.cancel(r, cause)
			overs = append(overs, r.whenOver())
		}
	}
	return overs
}

// Use looks through the open requests.
func (o owner) Use() (u servers.Use) {
	for _, r := range o.hub.held().requests { // of either direction; tasks, too, are open until they end
		if r.server != o.server {
			continue
		}
		u.Open = true
		u.Asked = u.Asked || r.direction == event.Incoming
		u.Task = u.Task || r.task != nil && r.cancellation == nil
	}
	return u
}

// Leaving is that of requests that StopWaiting has ended.
func (o owner) Leaving() []<-chan struct{} { return o.hub.held().lefts(o.server) }

// Changed tells the windows.
func (o owner) Changed() { o.hub.held().changed(o.server) }

// ToolsChanged tells the windows.
func (o owner) ToolsChanged() { o.hub.held().emit(&event.ToolsChanged{Server: o.name}) }

// Up watches what the server wants to be restarted for.
func (o owner) Up() { o.hub.config.Started(o.server.Server) }

// Fell closes what the server asked.
func (o owner) Fell(c servers.Client) {
	o.hub.held().closePromptsOf(c.(*connection), closing{cause: event.CauseServerGone, origin: event.OriginTransport,
		reason: prompts.ConnectionEnded, action: event.ActionDismiss})
}

// Rested lets another entry count, if one does now.
func (o owner) Rested() { o.launch.Settle() }

// Stderr is shown as a log message.
func (o owner) Stderr(line string) { o.allowance.Stderr(line) }

// Leased keeps whether the request counts as a user of its server's connection.
func (r *request) Leased() *bool { return &r.leased }

// Waits shows that the request waits for its server.
func (r *request) Waits() { r.server.hub.held().moveTo(r, event.StateConnecting) }
