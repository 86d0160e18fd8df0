package servers

import (
	"context"
	"time"

	"github.com/mcphub-go/mcphub/hub/config"
	"github.com/mcphub-go/mcphub/hub/event"
	"github.com/mcphub-go/mcphub/hub/mcp"
	"github.com/mcphub-go/mcphub/hub/signin"
)

// House is the part of the hub that all servers share: its lock and its goroutines.
type House interface {
	// Update runs f with the hub's lock. f must not wait for anything.
	Update(f func())
	// Go runs f on a goroutine that the hub waits for when it is closed. It is called with the lock.
	Go(f func())
	// Draining reports whether nothing may start any more. It is called with the lock.
	Draining() bool
}

// Owner is the hub's side of a Server: what the Server asks for, and what it reports. All methods are called with the
// hub's lock held, except where noted.
type Owner interface {
	// Prepare makes an entry ready to be started: it obtains the user's consent to the launch and resolves every
	// reference. It may ask a person. It is called without the lock.
	Prepare(ctx context.Context, conf config.Server) (config.Resolved, error)
	// AskSignIn shows a sign-in to a person, as signin.Asker does. wanted reports whether a caller of SignIn waits for it,
	// as opposed to a start of the server. told is called with +1 when a question opens and with -1 when it closes. Both
	// run with the lock held; AskSignIn itself is called without it.
	AskSignIn(ctx context.Context, q signin.Prompt, wanted func() bool, told func(by int)) error
	// BeginStart begins the request that stands for a start. expire ends the start when limit is over, not counting the
	// time in which a person is asked. A limit of 0 means no limit.
	BeginStart(limit time.Duration, expire func()) Start
	// Connect returns the hub's side of a new connection, and those options of its session that the hub decides.
	Connect(start Start) (Client, mcp.Options)

	// Info returns the server as windows show it: Server.Info, completed with what only the hub knows.
	Info() event.ServerInfo
	// Ordered is called when a person or the host has ordered something of the server. It unmutes the server. With start,
	// it also lets a consent to the launch that was declined be asked for again.
	Ordered(start bool)
	// TookEffect tells whoever gave the order of ctx that the order has taken effect. It is called without the lock.
	TookEffect(ctx context.Context)
	// Cancel cancels every request of the server that can be cancelled. It returns a channel for each, which is closed
	// when that request is over.
	Cancel(cause *event.CancelCause) (overs []<-chan struct{})

	// Refusal returns the error for a caller that wants the server while the hub refuses it, for example because a person
	// has declined its launch, or nil if the hub does not refuse it.
	Refusal() error
	// MustAsk reports whether a start would have to ask a person to consent to the launch.
	MustAsk() bool
	// Use returns which requests of the server the hub has open.
	Use() Use

	// Changed sends the windows the server's present state.
	Changed()
	// ToolsChanged tells the windows that the list of tools may have changed.
	ToolsChanged()
	// Up is called when the server has become ready.
	Up()
	// Fell is called when client's connection has ended by itself.
	Fell(client Client)
	// Rested is called when nothing of the server runs any more. Another config entry of its name may take its place then.
	Rested()
	// Stderr is called with each line of the server's stderr, secrets removed. It is called without the lock.
	Stderr(line string)
}

// Start is the request that represents a start of the server to people. Its methods are called with the lock held.
type Start interface {
	// Held reports whether the start waits for a person.
	Held() bool
	// End ends the request; a nil err means that the server is ready.
	End(err *event.Error)
}

// Client is the hub's side of one connection: it answers the server's requests and hears its notifications.
type Client interface {
	mcp.Handler
	// Capabilities returns the client capabilities that are declared to the server. It takes the lock.
	Capabilities() mcp.Capabilities
	// Offers returns the capabilities that were declared to the server, and those that would be declared now. It is called
	// with the lock held.
	Offers() (was, is mcp.Capabilities)
}

// Claim is a request that needs the connection of a server for a while. Its methods are called with the lock held.
type Claim interface {
	// Leased points to the claim's record of whether it counts as a user of the connection.
	Leased() *bool
	// Waits is called when the claim has to wait for the connection.
	Waits()
}

// Use is what the hub has under way with a server.
type Use struct {
	Open  bool // a request, in either direction
	Asked bool // a request of the server's own, such as sampling
	Task  bool // a task that has not been cancelled
}
